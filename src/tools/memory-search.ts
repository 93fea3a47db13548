import { z } from "zod";
import type { ResultKind } from "../search/index.ts";
import { resultKinds, type SearchResult } from "../search/index.ts";
import { resolvePlace } from "./context.ts";
import { choice, cuts, instant, note, text, whole } from "./fields.ts";
import { type Block, fitting, page, sayCuts } from "./output-budget.ts";
import { instantText, minuteText, name, notice, quote } from "./quote.ts";
import { defineTool, readOnly } from "./tool.ts";

const corpora = ["all", "memory", "sessions", "files"] as const;

const input = z.strictObject({
  query: text(2_000).describe("A question or words, in plain language."),
  maxResults: whole(1, 100).default(10).describe("How many results, 1 to 100. 10 when absent."),
  minScore: z
    .number("must be a number from 0 to 1")
    .min(0, "must be a number from 0 to 1")
    .max(1, "must be a number from 0 to 1")
    .optional()
    .describe("Leave out what scores less, 0 to 1."),
  channel: text(100).optional().describe("Only conversations of this channel, such as telegram or claude-code."),
  corpus: choice(corpora)
    .default("all")
    .describe(
      "Where to look: memory (facts, notes and folders), sessions (messages and summaries), files (large content), or all. all when absent.",
    ),
  since: instant().optional().describe("Only from then on: a date such as 2026-05-01, or milliseconds since 1970."),
  before: instant().optional().describe("Only before then: a date such as 2026-05-01, or milliseconds since 1970."),
});

const hit = z.object({
  citation: z.string(),
  kind: z.enum(resultKinds),
  score: z.number(),
  snippet: z.string(),
  time: z.string(),
  sessionKey: z.string().nullable(),
});

const corpusKinds: Record<(typeof corpora)[number], ResultKind[] | undefined> = {
  all: undefined,
  memory: ["memory", "chunk"],
  sessions: ["message", "summary"],
  files: ["file"],
};

export const memorySearch = defineTool({
  name: "memory_search",
  title: "Search memory by meaning",
  description:
    "Finds what was said, summarised or kept in any conversation by meaning and by words, best first. Use it when you " +
    "do not know the exact words: who, what, when, why, preferences, decisions. Returns snippets with citations " +
    "(msg#N, sum_…, file_…, path#L3-L9) that memory_get opens, and how sure the answer is: strong, weak or none. With none, say " +
    "that nothing was found. For exact strings use lcm_grep.",
  input,
  output: z.object({
    note,
    confidence: z.enum(["strong", "weak", "none"]),
    mode: z.enum(["hybrid", "lexical", "vector"]),
    results: z.array(hit),
    cuts,
  }),
  annotations: readOnly,
  rights: ["read"],
  notIn: { delegated: "Use lcm_grep, lcm_describe and lcm_expand: they keep to what the grant opens." },
  async run(context, { query, maxResults, channel, corpus, minScore, since, before }) {
    const { agent, principal } = await resolvePlace(context);
    const kinds = corpusKinds[corpus];
    const { signal } = context;
    const answer = await context.services.search.find(query, {
      agent,
      kinds,
      limit: maxResults,
      channel,
      minScore,
      since,
      before,
      signal,
      principal,
    });
    const { kept, rest } = fitting(answer.results.map(toBlock));
    const left = rest.length === 0 ? [] : [`${rest.length} further results do not fit an answer; lower maxResults`];
    const cutLines = sayCuts([...answer.degraded, ...answer.cut, ...left]);
    const confidence = kept.length === 0 ? "none" : answer.confidence;
    const counts = `${kept.length} ${kept.length === 1 ? "result" : "results"}, confidence ${confidence}`;
    const nothing = [`Nothing was found for ${name(query)}.`];
    return {
      markdown: page(
        `memory_search: ${counts}`,
        kept.length === 0 ? nothing : [notice, ...kept.map(({ words }) => words)],
        cutLines,
      ),
      structured: {
        note: notice,
        confidence,
        mode: answer.mode,
        results: kept.map(({ value }) => value),
        cuts: cutLines,
      },
    };
  },
});

function toBlock({ citation, kind, score, snippet, time, sessionKey }: SearchResult): Block<z.input<typeof hit>> {
  const where = sessionKey === null ? kind : `${kind} of ${name(sessionKey)}`;
  return {
    words: `- **${citation}** · ${where} · ${minuteText(time)} · ${score.toFixed(2)}\n${quote(snippet)}`,
    value: { citation, kind, score, snippet, time: instantText(time), sessionKey },
  };
}

import { z } from "zod";
import type { GrepMatch } from "../context/index.ts";
import { resolveScope } from "./context.ts";
import {
  allConversations,
  choice,
  conversationId,
  cuts,
  instant,
  note,
  oneScope,
  oneScopeFault,
  text,
  whole,
} from "./fields.ts";
import { type Block, fitting, page, sayCuts } from "./output-budget.ts";
import { instantText, minuteText, name, notice, quote } from "./quote.ts";
import { defineTool, readOnly } from "./tool.ts";

const input = z
  .strictObject({
    pattern: text(1_000).describe(
      "A regular expression in RE2 syntax (no look-around, no back-references; (?i) ignores case), or words for full_text.",
    ),
    mode: choice(["regex", "full_text"])
      .default("regex")
      .describe("regex matches exactly; full_text finds texts that hold all of the words. regex when absent."),
    scope: choice(["messages", "summaries", "files", "both"])
      .default("both")
      .describe(
        "Where to look: messages, summaries, files (large content), or both messages and summaries. both when absent.",
      ),
    conversationId,
    allConversations,
    since: instant().optional().describe("Only from then on: a date such as 2026-05-01, or milliseconds since 1970."),
    before: instant().optional().describe("Only before then: a date such as 2026-05-01, or milliseconds since 1970."),
    limit: whole(1, 200).default(50).describe("How many matches, 1 to 200. 50 when absent."),
    sort: choice(["recency", "relevance", "hybrid"])
      .default("recency")
      .describe("Which come first: recency, relevance, or hybrid of both. recency when absent."),
  })
  .refine(oneScope, oneScopeFault)
  .refine(({ since, before }) => since === undefined || before === undefined || since < before, {
    message: "since must be earlier than before",
    path: ["before"],
    params: { whole: true },
  });

const match = z.object({
  citation: z.string(),
  kind: z.enum(["message", "summary", "file"]),
  conversation: z.number(),
  time: z.string(),
  role: z.string().optional(),
  snippet: z.string(),
  score: z.number(),
});

export const lcmGrep = defineTool({
  name: "lcm_grep",
  title: "Search the history",
  description:
    "Finds every place in the stored conversation history that matches a regular expression or words, including what is " +
    "no longer in your context. Use it when you need something that was said, decided, run or read before: a name, " +
    "a number, a path, an error. Returns citations (msg#N, sum_…, file_…) with short snippets, newest first. Open a " +
    "citation with lcm_describe; the answer says so when there were more matches than it shows.",
  input,
  output: z.object({
    note,
    matches: z.array(match),
    searched: z.object({ messages: z.number(), summaries: z.number(), files: z.number() }),
    cuts,
  }),
  annotations: readOnly,
  rights: ["read"],
  notIn: {},
  async run(context, { conversationId: one, allConversations: all, ...asked }) {
    const scope = await resolveScope(context, { conversationId: one, allConversations: all });
    const found = await context.services.context.grep({ ...asked, ...scope, signal: context.signal });
    const { kept, rest } = fitting(found.matches.map(toBlock));
    const left =
      rest.length === 0
        ? []
        : [`${rest.length} further matches do not fit an answer; lower the limit, narrow the pattern or the time`];
    const cutLines = sayCuts([...(found.cut === undefined ? [] : [found.cut]), ...left]);
    const { messages, summaries, files } = found.searched;
    const counts = `${kept.length} ${kept.length === 1 ? "match" : "matches"}`;
    const nothing = [
      `Nothing matches ${name(asked.pattern)}. Looked at ${messages} messages, ${summaries} summaries, ${files} files.`,
    ];
    return {
      markdown: page(
        `lcm_grep: ${counts}`,
        kept.length === 0 ? nothing : [notice, ...kept.map(({ words }) => words)],
        cutLines,
      ),
      structured: { note: notice, matches: kept.map(({ value }) => value), searched: found.searched, cuts: cutLines },
    };
  },
});

function toBlock(found: GrepMatch): Block<z.input<typeof match>> {
  const { citation, kind, conversation, time, role, snippet, score } = found;
  const who = role === undefined ? kind : name(role);
  return {
    words: `- **${citation}** · ${who} · ${minuteText(time)} · conversation ${conversation}\n${quote(snippet)}`,
    value: {
      citation,
      kind,
      conversation,
      time: instantText(time),
      ...(role === undefined ? {} : { role }),
      snippet,
      score,
    },
  };
}

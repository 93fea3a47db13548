import { z } from "zod";
import { cuts, flag, instant, note, text, whole } from "./fields.ts";
import {
  category,
  memoryBlock,
  notDelegated,
  onlyScope,
  readScope,
  remembered,
  resolveRequester,
} from "./memory-fields.ts";
import { fitting, page } from "./output-budget.ts";
import { name, notice } from "./quote.ts";
import { defineTool, readOnly } from "./tool.ts";

export const memoryRecall = defineTool({
  name: "memory_recall",
  title: "Recall what is remembered",
  description:
    "Finds facts that were kept about people, preferences, projects, decisions and lessons, across all conversations, " +
    "the most fitting first, each with the messages it rests on (msg#N, which lcm_describe opens). Use it before you " +
    "say that you do not know something about the user. With asOf it answers what was believed at a time, with " +
    "includeHistory also what is believed no longer.",
  input: z.strictObject({
    query: text(2_000).describe("What to look for, in plain words."),
    limit: whole(1, 100).default(5).describe("How many, 1 to 100. 5 when absent."),
    scope: readScope,
    category: category.describe("Only this kind: profile, preferences, entities, events, cases or patterns."),
    asOf: instant()
      .optional()
      .describe("What was believed then: a date such as 2026-05-01, or milliseconds since 1970. Now when absent."),
    includeHistory: flag().default(false).describe("true finds what is believed no longer as well. false when absent."),
  }),
  output: z.object({ note, memories: z.array(remembered), mode: z.string(), cuts }),
  annotations: readOnly,
  rights: ["read"],
  notIn: notDelegated,
  async run(context, { scope, ...asked }) {
    const { principal, agent } = await resolveRequester(context);
    const request = { ...asked, ...onlyScope(scope), principal, agent, signal: context.signal };
    const found = await context.services.memory.recall(request);
    const blocks = found.hits.map(({ memory, score, expired, conflicts }) =>
      memoryBlock(memory, { score, expired, ...(conflicts ? { conflicts } : {}) }),
    );
    const { kept, rest } = fitting(blocks);
    const cutLines = rest.length === 0 ? [] : [`${rest.length} further memories do not fit an answer; lower the limit`];
    const how = found.note === undefined ? [] : [`(${found.note})`];
    const nothing = [`Nothing is remembered that fits ${name(asked.query)}.`, ...how];
    return {
      markdown: page(
        `memory_recall: ${kept.length} ${kept.length === 1 ? "memory" : "memories"}`,
        kept.length === 0 ? nothing : [notice, ...kept.map(({ words }) => words), ...how],
        cutLines,
      ),
      structured: { note: notice, memories: kept.map(({ value }) => value), mode: found.mode, cuts: cutLines },
    };
  },
});

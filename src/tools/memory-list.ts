import { z } from "zod";
import { cuts, note, whole } from "./fields.ts";
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
import { notice } from "./quote.ts";
import { defineTool, readOnly } from "./tool.ts";

const fields = {
  scope: readScope,
  category: category.describe("Only this kind: profile, preferences, entities, events, cases or patterns."),
  limit: whole(1, 200).default(50).describe("How many, 1 to 200. 50 when absent."),
  offset: whole(0, 1_000_000).default(0).describe("How many to pass over, for the next page. 0 when absent."),
};

export const memoryList = defineTool({
  name: "memory_list",
  title: "List memories",
  description:
    "Lists what is remembered, the newest first, page by page: every fact that is believed now, with its category, its " +
    "scope and the messages it rests on. Use memory_recall to find something; use this to look everything through.",
  input: z.strictObject(fields),
  output: z.object({ note, memories: z.array(remembered), total: z.number(), cuts }),
  annotations: readOnly,
  rights: ["read"],
  notIn: notDelegated,
  async run(context, { scope, ...asked }) {
    const { principal, agent } = await resolveRequester(context);
    const found = await context.services.memory.list({ ...asked, ...onlyScope(scope), principal, agent });
    const { kept } = fitting(found.memories.map((memory) => memoryBlock(memory)));
    const next = asked.offset + kept.length;
    const cutLines = next < found.total ? [`there are ${found.total} in all; send offset ${next} for the next`] : [];
    return {
      markdown: page(
        `memory_list: ${kept.length} of ${found.total} memories`,
        kept.length === 0 ? ["Nothing is remembered here."] : [notice, ...kept.map(({ words }) => words)],
        cutLines,
      ),
      structured: { note: notice, memories: kept.map(({ value }) => value), total: found.total, cuts: cutLines },
    };
  },
});

const counts = z.record(z.string(), z.number());

export const memoryStats = defineTool({
  name: "memory_stats",
  title: "Count memories",
  description:
    "Counts what is remembered: how much is believed now, how much is history, how much is tentative, " +
    "and how it is spread over scopes, categories, tiers and what wrote it.",
  input: z.strictObject({
    ...fields,
    limit: fields.limit.describe("How many groups of each spread, 1 to 200, by name. 50 when absent."),
    offset: fields.offset.describe("How many groups to pass over, for the next page. 0 when absent."),
  }),
  output: z.object({
    total: z.number(),
    current: z.number(),
    history: z.number(),
    forgotten: z.number(),
    held: z.number(),
    unread: z
      .object({ conversations: z.number(), messages: z.number() })
      .describe("Imported history that was not read for memories yet."),
    byScope: counts,
    byCategory: counts,
    byTier: counts,
    byExtractor: counts,
    cuts,
  }),
  annotations: readOnly,
  rights: ["read"],
  notIn: notDelegated,
  async run(context, { scope, category: kind, limit, offset }) {
    const { principal, agent } = await resolveRequester(context);
    const stats = await context.services.memory.stats({
      category: kind,
      limit,
      offset,
      ...onlyScope(scope),
      principal,
      agent,
    });
    const isFull = [stats.byScope, stats.byCategory, stats.byTier, stats.byExtractor].some(
      (found) => Object.keys(found).length === limit,
    );
    const cutLines = isFull ? [`there may be more groups; send offset ${offset + limit} for the next`] : [];
    const spread = (title: string, found: Record<string, number>) =>
      `- ${title}: ${
        Object.entries(found)
          .map(([key, count]) => `${key.replaceAll(/\s+/g, " ")} ${count}`)
          .join(", ") || "none"
      }`;
    const lines = [
      `${stats.current} are believed now, ${stats.history} are history (${stats.forgotten} of them forgotten), ${stats.held} are tentative.`,
      [
        spread("scopes", stats.byScope),
        spread("categories", stats.byCategory),
        spread("tiers", stats.byTier),
        spread("written by", stats.byExtractor),
      ].join("\n"),
    ];
    return {
      markdown: page(`memory_stats: ${stats.total} memories`, lines, cutLines),
      structured: { ...stats, cuts: cutLines },
    };
  },
});

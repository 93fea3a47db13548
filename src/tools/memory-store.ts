import { z } from "zod";
import { flag, instant, note } from "./fields.ts";
import {
  category,
  importance,
  memoryBlock,
  memoryText,
  notDelegated,
  remembered,
  resolveRequester,
  scope,
} from "./memory-fields.ts";
import { page } from "./output-budget.ts";
import { notice } from "./quote.ts";
import { defineTool, writes } from "./tool.ts";

const words: Readonly<Record<string, string>> = {
  create: "kept as a new memory",
  skip: "known already; nothing was written",
  support: "known already; it is better supported now",
  supersede: "the fact had another value, which is in its history now",
  merge: "merged with what was known",
  contextualize: "stored next to the known fact",
  contradict: "kept; it contradicts what was known",
};

export const memoryStore = defineTool({
  name: "memory_store",
  title: "Keep a fact",
  description:
    "Keeps one fact for later conversations: who somebody is, what they like, what was decided, how a problem was " +
    "solved. Write it as one full sentence that can be understood alone. What is known already is not kept twice; " +
    "another value of a known fact takes its place, and the old one stays in its history. The answer says which.",
  input: z.strictObject({
    text: memoryText.describe("The fact, as a sentence that can be understood alone."),
    category: category.describe(
      "What kind it is: profile, preferences, entities, events, cases or patterns. Found out when absent.",
    ),
    importance: importance.default(0.7).describe("How much it matters, 0 to 1. 0.7 when absent."),
    scope: scope.describe("Where it is kept: the agent's own scope when absent, or global, user:<id>, project:<id>."),
    validFrom: instant().optional().describe("Since when it holds: a date such as 2026-05-01. Now when absent."),
    force: flag().default(false).describe("true keeps it as new also when the same is known. false when absent."),
  }),
  output: z.object({ note, decision: z.string(), memory: remembered }),
  annotations: writes,
  rights: ["read", "write"],
  notIn: notDelegated,
  async run(context, asked) {
    const { principal, agent, session } = await resolveRequester(context);
    const done = await context.services.memory.add({ ...asked, principal, agent, session, trust: "agent" });
    const { words: shown, value } = memoryBlock(done.current);
    const what = words[done.decision] ?? done.decision;
    return {
      markdown: page(`memory_store: ${what}`, [notice, shown], []),
      structured: { note: notice, decision: done.decision, memory: value },
    };
  },
});

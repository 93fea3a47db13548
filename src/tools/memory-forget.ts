import { z } from "zod";
import { flag, query } from "./fields.ts";
import { memoryId, notDelegated, onlyScope, readScope, resolveRequester } from "./memory-fields.ts";
import { page } from "./output-budget.ts";
import { defineTool, writes } from "./tool.ts";

export const memoryForget = defineTool({
  name: "memory_forget",
  title: "Forget a memory",
  description:
    "Stops believing a memory, named by its id or by words that fit only one. It is not recalled any more and stays " +
    "readable in history. purge erases it for good with every version of it: only when the user asks for exactly that. " +
    "The messages it came from stay in the transcript.",
  input: z
    .strictObject({
      memoryId: memoryId.optional().describe("The id of the memory, such as mem_…, as memory_recall shows it."),
      query: query.describe("Words that fit one memory, where its id is not known."),
      scope: readScope,
      purge: flag().default(false).describe("true erases it with all its versions. false when absent."),
    })
    .refine((asked) => (asked.memoryId === undefined) !== (asked.query === undefined), {
      message: "Either memoryId or query is needed, and not both",
      path: ["memoryId"],
      params: { whole: true },
    }),
  output: z.object({
    memories: z.array(z.string()).describe("What was forgotten; every version of it when it was purged."),
    purged: z.boolean(),
    backups: z.array(z.string()).describe("Backups that may still hold what was purged."),
  }),
  annotations: { ...writes, destructiveHint: true },
  rights: ["read", "write"],
  notIn: notDelegated,
  async run(context, { memoryId: id, query: words = "", scope, purge }) {
    const { principal, agent } = await resolveRequester(context);
    const what = id === undefined ? { query: words, ...onlyScope(scope) } : { id };
    const done = await context.services.memory.forget(what, { principal, agent, purge });
    const how = done.purged ? "erased with all its versions" : "no longer believed; its history stays readable";
    const kept = done.backups.map((file) => `- ${file}`).join("\n");
    const lines = [`${done.memories.join(", ")}: ${how}.`];
    if (kept !== "") lines.push(`These backups may still hold it and were not touched:\n${kept}`);
    return { markdown: page("memory_forget", lines, []), structured: done };
  },
});

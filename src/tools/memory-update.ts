import { z } from "zod";
import { note } from "./fields.ts";
import {
  category,
  importance,
  memoryBlock,
  memoryId,
  memoryText,
  notDelegated,
  remembered,
  resolveRequester,
} from "./memory-fields.ts";
import { page } from "./output-budget.ts";
import { notice } from "./quote.ts";
import { defineTool, writes } from "./tool.ts";

export const memoryUpdate = defineTool({
  name: "memory_update",
  title: "Correct a memory",
  description:
    "Changes a memory by its id: its text, how much it matters, or its category. Use it when a fact was noted wrongly. " +
    "The version before stays readable in its history, and the new version has an id of its own, which is answered.",
  input: z
    .strictObject({
      memoryId: memoryId.describe("The id of the memory, such as mem_…, as memory_recall shows it."),
      text: memoryText.optional().describe("What it should say instead."),
      importance: importance.optional().describe("How much it matters, 0 to 1."),
      category: category.describe("What kind it is: profile, preferences, entities, events, cases or patterns."),
    })
    .refine((asked) => asked.text !== undefined || asked.importance !== undefined || asked.category !== undefined, {
      message: "text, importance or category is needed",
      path: ["text"],
      params: { whole: true },
    }),
  output: z.object({ note, memory: remembered }),
  annotations: writes,
  rights: ["read", "write"],
  notIn: notDelegated,
  async run(context, { memoryId: id, ...patch }) {
    const { principal, agent } = await resolveRequester(context);
    const { words, value } = memoryBlock(await context.services.memory.update(id, patch, { principal, agent }));
    return {
      markdown: page(`memory_update: version ${value.version}`, [notice, words], []),
      structured: { note: notice, memory: value },
    };
  },
});

import { z } from "zod";
import type { JsonObject } from "../../domain/index.ts";
import type { OpenOptions, Varve } from "../../index.ts";
import { recallForPrompt } from "../claude-code/recall.ts";
import { answerCommand } from "./command.ts";
import { createCompaction } from "./compaction.ts";
import { computeBudget, countTokens, fitMessages } from "./context-window.ts";
import { ExtensionEngine } from "./engine.ts";
import type { BeforeAgentStart, BeforeCompact, PiApi, PiContext, PiMessage, PiTool } from "./pi-types.ts";

/** The tools for a coding agent; the others are about the memory as a whole. */
const offeredTools = new Set([
  "lcm_grep",
  "lcm_describe",
  "lcm_expand_query",
  "memory_search",
  "memory_get",
  "memory_recall",
  "memory_store",
  "memory_forget",
]);

/** The type of the messages with what was recalled. */
const recallType = "varve-recall";

/**
 * The extension of pi: every entry of its session file is stored, prompts get what is remembered about them, compactions
 * are made from the stored summaries, and a context that would not fit is shortened. A failure is reported and leaves pi
 * as it is without the extension.
 */
export function createPiExtension(options: OpenOptions = {}): (pi: PiApi) => void {
  return (pi) => {
    const engine = new ExtensionEngine(options);
    const shown = new Set<string>();
    let hasTools = false;

    /** Runs a handler; its failure is shown once, and pi continues without its result. */
    let reported = "";
    const guard = <E, R>(work: (event: E, context: PiContext) => Promise<R>) => {
      return async (event: never, context: PiContext): Promise<R | undefined> => {
        try {
          return await work(event as E, context);
        } catch (error) {
          const text = `Varve: ${error instanceof Error ? error.message : String(error)}`;
          if (text !== reported && context.hasUI) context.ui.notify(text, "warning");
          reported = text;
          return undefined;
        }
      };
    };

    pi.on(
      "session_start",
      guard(async (_: unknown, context) => {
        shown.clear();
        const varve = await engine.open();
        if (context.sessionManager.getSessionFile() === undefined) {
          const text = "Varve does not store this session, because pi keeps no file of it (--no-session).";
          if (context.hasUI) context.ui.notify(text, "info");
        }
        if (hasTools) return;
        hasTools = true;
        for (const tool of await createTools(varve)) pi.registerTool(tool);
      }),
    );
    pi.on(
      "before_agent_start",
      guard(async ({ prompt }: BeforeAgentStart, context) => {
        const recorded = await engine.record(context);
        const varve = recorded?.varve ?? (await engine.open());
        const block = await recallForPrompt(varve, {
          prompt,
          ...(recorded ? { session: recorded.session } : {}),
          shown,
          byMeaning: true,
        });
        if (!block) return undefined;
        for (const citation of block.citations) shown.add(citation);
        return { message: { customType: recallType, content: block.text, display: false } };
      }),
    );
    pi.on(
      "context",
      guard(async ({ messages }: { messages: PiMessage[] }, context) => {
        const budget = computeBudget(context);
        if (budget === undefined || countTokens(messages) <= budget) return undefined;
        const recorded = await engine.record(context);
        return recorded && { messages: await fitMessages(recorded.varve, recorded.session, messages, budget) };
      }),
    );
    pi.on(
      "session_before_compact",
      guard(async (event: BeforeCompact, context) => {
        const recorded = await engine.record(context);
        const compaction = recorded && (await createCompaction(recorded.varve, recorded.session, event));
        // What was recalled before is in the summaries at most, so it may be shown again.
        shown.clear();
        return compaction && { compaction };
      }),
    );
    const record = guard(async (_: unknown, context: PiContext) => {
      const recorded = await engine.record(context);
      if (recorded) await recorded.varve.context.afterTurn(recorded.session);
    });
    pi.on("agent_end", record);
    pi.on("session_compact", record);
    pi.on(
      "session_shutdown",
      guard(async (_: unknown, context: PiContext) => {
        await engine.record(context);
        await engine.close();
      }),
    );
    pi.registerCommand("varve", {
      description: "Search and remember with Varve: status, search, remember, recall, forget",
      handler: async (words, context) => {
        try {
          context.ui.notify(await answerCommand(await engine.open(), words), "info");
        } catch (error) {
          context.ui.notify(`Varve: ${error instanceof Error ? error.message : String(error)}`, "error");
        }
      },
    });
  };
}

async function createTools(varve: Varve): Promise<PiTool[]> {
  const tools = await varve.tools();
  return tools
    .filter(({ name }) => offeredTools.has(name))
    .map((tool) => ({
      name: tool.name,
      label: tool.title,
      description: tool.description,
      parameters: z.toJSONSchema(tool.input, { io: "input" }) as JsonObject,
      async execute(_id, input, signal) {
        const { markdown, structured } = await tool.run(input, signal ? { signal } : {});
        return { content: [{ type: "text", text: markdown }], details: structured };
      },
    }));
}

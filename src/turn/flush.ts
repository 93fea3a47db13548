import { accessSync, appendFileSync, constants, mkdirSync } from "node:fs";
import { join } from "node:path";
import { formatDay, getToolCalls, type Message, toVarveError } from "../domain/index.ts";
import { openChatModel } from "../models/index.ts";
import { markMemoryFlush, type Session } from "../session/index.ts";
import { chatSources } from "./runners/choose.ts";
import { buildSystemPrompt, offerTools, runTools, type TurnTool } from "./tool-loop.ts";
import type { Answered, TurnServices } from "./turn.ts";
import { resolveWindow } from "./window.ts";

const stepsMax = 6;
const noteMax = 20_000;

/**
 * Asks the model to save lasting facts before the conversation is compacted, once for each compaction. Nothing of it
 * enters the transcript. A failure is counted for the model and never fails the turn.
 */
export async function flushMemory(services: TurnServices, session: Session, answered: Answered): Promise<void> {
  const { flush } = services.config.turn;
  const model = flush.model ?? answered.model;
  if (answered.runner.name !== "ai-sdk" || model === undefined || !isDue(services, session, answered)) return;
  try {
    // A window that turned out smaller than it was declared stays smaller here.
    const windowTokens =
      model === answered.model ? answered.facts.windowTokens : resolveWindow(services.config, model).tokens;
    await ask(services, session, model, windowTokens);
    await markMemoryFlush(services.store, session);
  } catch (error) {
    services.usage.record("flush", model, { error: toVarveError(error).message, isAuth: false });
  }
}

function isDue({ config }: TurnServices, session: Session, { facts }: Answered): boolean {
  const { flush } = config.turn;
  if (!flush.enabled || session.memoryFlushCompactionCount === session.compactionCount) return false;
  const reserve = Math.min(config.context.reserveTokens, Math.floor(facts.windowTokens / 4));
  const threshold = facts.windowTokens - reserve - flush.softThresholdTokens;
  // A sweep starts at a share of the window; the flush must come before it.
  const sweep = Math.floor(facts.windowTokens * config.context.contextThreshold);
  // A view fills the window; only the context without what was opened tells how near the next compaction is.
  return (facts.contextTokens ?? facts.observedTokens ?? facts.estimatedTokens ?? 0) > Math.min(threshold, sweep);
}

async function ask(services: TurnServices, session: Session, name: string, windowTokens: number): Promise<void> {
  const { config } = services;
  const { flush } = config.turn;
  const model = openChatModel(name, chatSources(services, session));
  const view = await services.context.assemble(session, {
    windowTokens,
    model: name,
    provider: model.provider,
  });
  const system = flush.systemPrompt ?? buildSystemPrompt(config, services.store.clock.now(), view.systemPromptAddition);
  const stores = (await offerTools(services, session)).filter((tool) => tool.name === "memory_store");
  const tools = [...stores, ...notesTool(services)];
  let messages: Message[] = [...view.messages, { role: "user", content: flush.prompt }];
  for (let step = 1; step <= stepsMax; step += 1) {
    const answer = await model.ask({ system, messages, tools });
    services.usage.record("flush", name, { usage: answer.usage });
    const calls = getToolCalls(answer.message);
    if (calls.length === 0) return;
    const results = await runTools(tools, calls, { signal: new AbortController().signal, emit: () => undefined });
    messages = [...messages, answer.message, { role: "tool", content: results }];
  }
}

/** A tool that appends to the notes of the day; not offered without a writable workspace. */
function notesTool({ config, store: { clock } }: TurnServices): TurnTool[] {
  const { workspace } = config.search;
  if (workspace === undefined) return [];
  const folder = join(workspace, "memory");
  try {
    mkdirSync(folder, { recursive: true });
    accessSync(folder, constants.W_OK);
  } catch {
    // A read-only workspace gets no notes.
    return [];
  }
  return [
    {
      name: "memory_append",
      description: "Adds text to the notes of today, behind what is there. Use it for what happened and what is open.",
      input: {
        type: "object",
        properties: { text: { type: "string", description: "Markdown, a few lines." } },
        required: ["text"],
        additionalProperties: false,
      },
      async run(input) {
        const text = typeof input === "object" && input !== null && "text" in input ? input.text : undefined;
        if (typeof text !== "string" || text.trim() === "" || text.length > noteMax) {
          throw toVarveError(new RangeError(`Send {"text": "…"} with 1 to ${noteMax} characters.`));
        }
        const file = join(folder, `${formatDay(clock.now(), config.timezone)}.md`);
        appendFileSync(file, `${text.trim()}\n\n`);
        return { markdown: `Added to memory/${formatDay(clock.now(), config.timezone)}.md.` };
      },
    },
  ];
}

import type { Config } from "../config/index.ts";
import { type ConversationSnapshot, type Fitted, fitMidTurn } from "../context/index.ts";
import {
  formatDay,
  getParts,
  getToolCalls,
  type JsonObject,
  type Message,
  type Part,
  type ToolCallPart,
  toVarveError,
  VarveError,
} from "../domain/index.ts";
import type { TokenUsage } from "../models/index.ts";
import type { Session } from "../session/index.ts";
import { estimateMessageTokens, estimateTokens } from "../text/index.ts";
import { createSilentReplyGate, toMessageDraft } from "../transcript/index.ts";
import { planCache } from "./cache-points.ts";
import { withGroupHistory } from "./group-history.ts";
import { toMessage } from "./inbound.ts";
import { readLevels } from "./levels.ts";
import type { Runner } from "./runners/port.ts";
import type { Answered, Turn, TurnFacts, TurnRuntime, TurnServices } from "./turn.ts";

/** A tool as a model sees it, ready to run. */
export interface TurnTool {
  name: string;
  description: string;
  /** A JSON schema. */
  input: JsonObject;
  run(input: unknown, options?: { signal?: AbortSignal }): Promise<{ markdown: string }>;
}

export interface Plan {
  runner: Runner;
  facts: TurnFacts;
  notes: string[];
  /** The tokens of the tools and the system prompt. */
  overheadTokens?: number;
  /** The estimated tokens of the last prompt that was sent. */
  promptTokens?: number;
}

interface Prompt {
  system: string;
  messages: Message[];
  estimatedTokens: number;
  contextTokens: number;
  snapshot?: ConversationSnapshot;
}

/**
 * Asks the model, runs the tools it calls, and asks again until there is an answer. Each step is written before the next
 * one starts, so that a restarted turn continues after it.
 */
export async function toolLoop(
  services: TurnServices,
  turn: Turn,
  plan: Plan,
  runtime: TurnRuntime,
): Promise<Answered> {
  const { runner, facts, notes } = plan;
  const { session, claim } = turn;
  const { maxSteps } = services.config.turn;
  const levels = readLevels(session);
  notes.push(...levels.notes);
  const tools = runner.takes === "messages" ? await offerTools(services, session) : [];
  const asked = new Set(turn.messages.flatMap(({ id }) => id ?? []));
  // The addition about summaries is counted with the view.
  const system = buildSystemPrompt(services.config, services.store.clock.now(), undefined);
  plan.overheadTokens = countOverheadTokens(tools, system);
  let prompt = await assemblePrompt(services, turn, plan);
  const usage: TokenUsage = { inputTokens: 0, outputTokens: 0 };
  let counted = false;
  for (let step = 1; ; step += 1) {
    runtime.signal.throwIfAborted();
    const gate = createSilentReplyGate();
    const show = (text: string): void => {
      if (text !== "") runtime.emit({ type: "text", text });
    };
    const isLast = step >= maxSteps;
    plan.promptTokens = prompt.estimatedTokens;
    const cache = runner.takes === "messages" ? planCache(prompt.messages) : undefined;
    const cacheableShare = cache && toShare(1 - cache.tailTokens / Math.max(1, prompt.estimatedTokens));
    const answer = await runner.run({
      session,
      system: prompt.system,
      messages: isLast && step > 1 ? [...prompt.messages, lastStepNote] : prompt.messages,
      prompt: turn.prompt,
      asked,
      thinking: levels.thinking,
      cachePoints: cache?.points,
      tools: isLast ? [] : tools,
      signal: runtime.signal,
      onText: (text) => show(gate.push(text)),
      onReasoning: (text) => {
        if (levels.reasoning.isStreamed) runtime.emit({ type: "reasoning", text });
      },
    });
    show(gate.end());
    notes.push(...answer.notes);
    if (answer.usage) {
      counted = true;
      usage.inputTokens += answer.usage.inputTokens;
      usage.outputTokens += answer.usage.outputTokens;
      const { inputTokens, cachedInputTokens = 0 } = answer.usage;
      if (cachedInputTokens > 0) usage.cachedInputTokens = (usage.cachedInputTokens ?? 0) + cachedInputTokens;
      if (cacheableShare !== undefined) {
        usage.cacheableInputTokens = (usage.cacheableInputTokens ?? 0) + Math.round(inputTokens * cacheableShare);
      }
    }
    const calls = getToolCalls(answer.message);
    if (calls.length === 0 || isLast) {
      if (isLast && maxSteps > 1)
        notes.push(`The model used tools ${maxSteps - 1} times and was then asked to answer.`);
      return {
        runner,
        model: answer.message.model === undefined ? runner.model : (runner.model ?? answer.message.model),
        message: calls.length === 0 ? answer.message : withoutCalls(answer.message, maxSteps),
        notes,
        facts: {
          ...facts,
          estimatedTokens: prompt.estimatedTokens,
          contextTokens: prompt.contextTokens,
          ...(cacheableShare === undefined ? {} : { cacheableShare }),
          ...(step === 1 ? { snapshot: prompt.snapshot } : {}),
          ...(answer.usage ? { observedTokens: answer.usage.inputTokens } : {}),
        },
        ...(counted ? { usage } : {}),
      };
    }
    const results = await runTools(tools, calls, runtime);
    const id = `${claim.turn}:${claim.attempt}:${services.store.clock.now()}:${step}`;
    const steps: Message[] = [
      { ...answer.message, id: `${id}:call` },
      { role: "tool", content: results, id: `${id}:result` },
    ];
    const joined = (await runtime.steer()).map(({ row, inbound }) =>
      toMessage(inbound, inbound.text, { id: row.id, time: row.accepted_at }),
    );
    await services.transcripts.write(session, [...steps, ...joined].map(toMessageDraft));
    prompt = await extendPrompt(services, turn, plan, prompt, [...steps, ...joined], runtime);
  }
}

function toShare(value: number): number {
  return Math.round(Math.min(1, Math.max(0, value)) * 1000) / 1000;
}

/** The last step has no tools; a model that is not told so may call one all the same, instead of an answer. */
const lastStepNote: Message = {
  role: "user",
  content: "[No more tools can be used in this turn. Answer now with what is known.]",
};

/** The text of an answer whose calls are not run any more; without text there is no answer. */
function withoutCalls(message: Message, maxSteps: number): Message {
  const content = getParts(message).filter((part) => part.type !== "tool_call");
  if (content.some((part) => part.type === "text" && part.text.trim() !== "")) return { ...message, content };
  throw new VarveError("MODEL_FAILED", `The model only called tools and gave no answer in ${maxSteps} steps.`, {
    remedy: "The message is kept. Ask for less at once, raise turn.maxSteps, or choose another model.",
    details: { retry: false },
  });
}

/** Tools that tell figures about the store; people get them with `/status` and `/context`. */
const statisticsTools: ReadonlySet<string> = new Set(["memory_stats", "session_status"]);

/** The tools of a session, as models take them. */
export async function offerTools(services: TurnServices, session: Session): Promise<TurnTool[]> {
  // Loaded on demand: many turns use no tools.
  const { openToolbox, describeCompactly } = await import("../tools/index.ts");
  const readOnly = !readLevels(session).mayWrite;
  const { tools } = openToolbox(services, { session, agent: session.agent, ...(readOnly ? { readOnly } : {}) });
  const offered = tools.filter(({ name }) => !statisticsTools.has(name));
  return offered.map((tool) => ({ name: tool.name, ...describeCompactly(tool), run: tool.run }));
}

const counted = new Map<string, number>();

/** The tokens of tools and system prompt; counted once, because they are the same in every turn. */
function countOverheadTokens(tools: readonly TurnTool[], systemPrompt: string): number {
  const name = `${tools.map((tool) => tool.name).join(" ")}\n${systemPrompt}`;
  const known = counted.get(name);
  if (known !== undefined) return known;
  const tokens = estimateTokens(JSON.stringify(tools.map(({ run: _, ...tool }) => tool)) + systemPrompt);
  counted.set(name, tokens);
  return tokens;
}

/** How often a view is assembled again because the names and headings of a group took its room. */
const groupAttemptsMax = 3;

/** The view with the names and headings of a group. They are sent too, so a view that has no room for them is made smaller. */
async function assembleGroupView(services: TurnServices, turn: Turn, plan: Plan) {
  const { config } = services;
  const { runner, facts, overheadTokens = 0 } = plan;
  let headingTokens = 0;
  for (let attempt = 1; ; attempt += 1) {
    const view = await services.context.assembleForTurn(turn.session, {
      windowTokens: facts.windowTokens - overheadTokens - headingTokens,
      model: facts.model,
      provider: runner.provider,
      prompt: turn.prompt,
    });
    if (view.messages.every(({ meta }) => meta?.group === undefined)) return { view, messages: view.messages };
    const messages = withGroupHistory(view.messages, config.turn.groupHistoryLimit);
    const added = countMessages(messages) - countMessages(view.messages);
    const fits = added <= headingTokens || services.context.fitMidTurn(turn.session, messages, windowFacts(plan)).fits;
    if (fits || attempt >= groupAttemptsMax) return { view, messages };
    // A quarter of a window is reserved for the answer: the room of a view shrinks by three quarters of this.
    headingTokens += Math.ceil((added * 4) / 3);
  }
}

function countMessages(messages: readonly Message[]): number {
  return messages.reduce((sum, message) => sum + estimateMessageTokens(message), 0);
}

/** The window without the tools and the system prompt. */
function windowFacts({ facts, overheadTokens = 0 }: Plan): TurnFacts {
  return { ...facts, windowTokens: facts.windowTokens - overheadTokens };
}

async function assemblePrompt(services: TurnServices, turn: Turn, plan: Plan): Promise<Prompt> {
  const { config, store } = services;
  const { overheadTokens = 0 } = plan;
  let assembled = await assembleGroupView(services, turn, plan);
  if (await restoreInput(services, turn, assembled.view.messages)) {
    assembled = await assembleGroupView(services, turn, plan);
  }
  const { view, messages } = assembled;
  const system = buildSystemPrompt(config, store.clock.now(), view.systemPromptAddition);
  // Messages of the running turn are never compacted: only truncating tool results can make them fit.
  const budget = fit(services, turn, plan, messages);
  const fitted = budget.fits ? budget : fitMidTurn(messages, budget.budgetTokens);
  if (fitted !== budget && fitted.trimmed > 0) {
    plan.notes.push(`${fitted.trimmed} results of tools were cut short, because nothing else was left to make it fit.`);
  }
  return {
    system,
    messages: fitted.messages,
    estimatedTokens: Math.max(view.estimatedTokens, fitted.tokens) + overheadTokens,
    contextTokens: view.contextTokens,
    snapshot: view.snapshot,
  };
}

/**
 * Writes the input again when the server lost it before the view was assembled: the model would answer the message before
 * it. Returns whether anything was missing.
 */
async function restoreInput(
  { transcripts }: TurnServices,
  { recorded, session, messages }: Turn,
  shown: readonly Message[],
): Promise<boolean> {
  const last = messages.at(-1)?.id;
  if (recorded === undefined || shown.some(({ id }) => id === last)) return false;
  return (await transcripts.write(session, recorded)).appended > 0;
}

function fit(services: TurnServices, turn: Turn, plan: Plan, messages: Message[]): Fitted {
  const fitted = services.context.fitMidTurn(turn.session, messages, windowFacts(plan));
  if (fitted.trimmed > 0) plan.notes.push(`${fitted.trimmed} results of tools were cut short to fit the window.`);
  return fitted;
}

/** The prompt of the next step. When it no longer fits, tool results are truncated; then the conversation is compacted. */
async function extendPrompt(
  services: TurnServices,
  turn: Turn,
  plan: Plan,
  before: Prompt,
  steps: Message[],
  { signal }: TurnRuntime,
): Promise<Prompt> {
  const { facts, overheadTokens = 0, notes } = plan;
  const fitted = fit(services, turn, plan, [...before.messages, ...steps]);
  if (fitted.fits) return { ...before, messages: fitted.messages, estimatedTokens: fitted.tokens + overheadTokens };
  const budgetTokens = Math.floor((facts.windowTokens - overheadTokens) * midTurnShare);
  const result = await services.context.compact(turn.session, { budgetTokens, signal });
  if (result.tokensAfter < result.tokensBefore) {
    notes.push(
      `The conversation was compacted inside the turn: ${result.tokensBefore} → ${result.tokensAfter} tokens.`,
    );
  }
  return assemblePrompt(services, turn, plan);
}

const midTurnShare = 0.6;

/** Runs the called tools in order. A failure is a result too: it tells the model what to do instead. */
export async function runTools(
  tools: readonly TurnTool[],
  calls: readonly ToolCallPart[],
  { signal, emit }: Pick<TurnRuntime, "signal" | "emit">,
): Promise<Part[]> {
  const results: Part[] = [];
  for (const { callId, name, input } of calls) {
    signal.throwIfAborted();
    emit({ type: "tool-call", callId, name, input });
    const { text, isError } = await runTool(tools, name, input, signal);
    signal.throwIfAborted();
    emit({ type: "tool-result", callId, name, isError, text });
    results.push({ type: "tool_result", callId, name, output: text, ...(isError ? { isError } : {}) });
  }
  return results;
}

async function runTool(
  tools: readonly TurnTool[],
  name: string,
  input: unknown,
  signal: AbortSignal,
): Promise<{ text: string; isError: boolean }> {
  const tool = tools.find((one) => one.name === name);
  if (!tool) {
    const names = tools.map((one) => one.name).join(", ");
    return { text: `There is no tool ${name}. There are: ${names}.`, isError: true };
  }
  try {
    return { text: (await tool.run(input, { signal })).markdown, isError: false };
  } catch (error) {
    const { message, remedy } = toVarveError(error);
    return { text: remedy === undefined ? message : `${message} ${remedy}`, isError: true };
  }
}

/** The system prompt. It contains the day but not the hour, so that the prefix of the prompt does not change every turn. */
export function buildSystemPrompt({ turn, timezone }: Config, now: number, addition: string | undefined): string {
  const day = formatDay(now, timezone);
  return [turn.systemPrompt, `Today is ${day}.`, addition].filter(Boolean).join("\n\n");
}

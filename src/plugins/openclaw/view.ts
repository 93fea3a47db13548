import { type Message, toPi } from "../../domain/index.ts";
import { estimateMessageTokens, estimateTokens, type Session, type Varve } from "../../index.ts";
import type { AssembleParams, AssembleResult, HostMessage } from "./host-types.ts";
import { recallText } from "./recall-text.ts";
import { getSharedState } from "./shared-engine.ts";

/** Budgets are rounded down to a step, so that a few tokens more or less in a prompt do not change the whole view. */
const budgetSteps = 16;
const budgetDefault = 100_000;

/** Assembles the messages before the current turn from Varve's own view, within the budget of the host. */
export async function assembleView(
  varve: Varve,
  session: Session,
  { tokenBudget = budgetDefault, prompt, model }: AssembleParams,
): Promise<AssembleResult> {
  const { viewShares, viewSizes } = getSharedState();
  const share = viewShares.get(session.key) ?? 1;
  const view = await varve.context.assemble(session, {
    budgetTokens: roundBudget(tokenBudget * share),
    ...(prompt === undefined ? {} : { prompt }),
    ...(model === undefined ? {} : { model }),
  });
  const recalled = varve.settings.config.memory.recall ? await recallElsewhere(varve, session, prompt) : undefined;
  const recalledTokens = recalled === undefined ? 0 : estimateMessageTokens(recalled);
  const fits = view.estimatedTokens + recalledTokens <= tokenBudget * share;
  const messages = recalled !== undefined && fits ? [...view.messages, recalled] : view.messages;
  const estimatedTokens = view.estimatedTokens + (fits ? recalledTokens : 0);
  viewSizes.set(session.key, estimatedTokens / tokenBudget);
  return {
    messages: toHostMessages(messages, session.sessionStartedAt),
    estimatedTokens,
    ...(view.systemPromptAddition === undefined ? {} : { systemPromptAddition: view.systemPromptAddition }),
  };
}

/**
 * Passages of other conversations about the prompt. They are the last message of the view, for this turn only, so the
 * messages before it stay a prefix of the next view.
 */
async function recallElsewhere(
  varve: Varve,
  session: Session,
  prompt: string | undefined,
): Promise<Message | undefined> {
  if (prompt === undefined) return undefined;
  const principal = await varve.sessions.resolvePrincipal(session);
  const content = await recallText(varve, { prompt, agent: session.agent, session, principal, memoriesMax: 0 });
  return content === undefined ? undefined : { role: "user", content };
}

export function roundBudget(tokens: number): number {
  const step = 2 ** Math.max(0, Math.floor(Math.log2(Math.max(1, tokens) / budgetSteps)));
  return Math.max(1, Math.floor(tokens / step) * step);
}

/** Messages in OpenClaw's format, which shows their times. Those that Varve wrote get that of the message before them. */
function toHostMessages(messages: readonly Message[], startedAt: number): HostMessage[] {
  let time = messages.find((message) => message.time !== undefined)?.time ?? startedAt;
  return messages.flatMap(toPi).map((message) => {
    if (typeof message.timestamp === "number") time = message.timestamp;
    return { ...message, timestamp: time };
  });
}

/**
 * The newest messages of the host within the budget, for a turn in which Varve cannot read its own. A tool result is
 * not shown without its call.
 */
export function fitHostMessages(messages: readonly HostMessage[], tokenBudget: number | undefined): AssembleResult {
  const sizes = messages.map((message) => estimateTokens(JSON.stringify(message.content ?? "")) + 8);
  let tokens = sizes.reduce((sum, size) => sum + size, 0);
  let first = 0;
  while (tokenBudget !== undefined && tokens > tokenBudget && first < messages.length - 1) {
    tokens -= sizes[first] ?? 0;
    first += 1;
  }
  while (first > 0 && first < messages.length && messages[first]?.role !== "user") {
    tokens -= sizes[first] ?? 0;
    first += 1;
  }
  return { messages: messages.slice(first), estimatedTokens: tokens };
}

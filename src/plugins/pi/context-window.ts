import { fromPi, isJsonObject, type JsonObject, toPi, toPlainText } from "../../domain/index.ts";
import { estimateMessageTokens, estimateTokens, type Session, type Varve } from "../../index.ts";
import { assembleFitting } from "../host-history/assemble-fitting.ts";
import type { PiContext, PiMessage } from "./pi-types.ts";

const answerTokensDefault = 8_192;
const answerShareMax = 0.25;
/** The definitions of the tools, which extensions do not see. */
const toolTokens = 4_000;
const fixedShareMax = 0.5;
const safeShare = 0.95;

/** The tokens that the messages may have; undefined while the model's window is unknown. */
export function computeBudget(context: PiContext): number | undefined {
  const { model } = context;
  const window = model?.contextWindow;
  if (window === undefined || window <= 0) return undefined;
  const answer = Math.min(model?.maxTokens ?? answerTokensDefault, Math.floor(window * answerShareMax));
  const fixed = estimateTokens(context.getSystemPrompt?.() ?? "") + toolTokens;
  return Math.floor((window - answer) * safeShare) - Math.min(fixed, Math.floor(window * fixedShareMax));
}

export function countTokens(messages: readonly PiMessage[]): number {
  return messages.reduce((sum, message) => sum + estimateMessageTokens(fromPi(message)), 0);
}

/**
 * The messages that fit a budget, for a context that pi cannot shorten in time, such as one with a large paste: the view
 * of the stored session, and after it what is not stored yet.
 */
export async function fitMessages(
  varve: Varve,
  session: Session,
  messages: readonly PiMessage[],
  budgetTokens: number,
): Promise<PiMessage[]> {
  const { entries } = await varve.transcripts.read(session, { limit: 50 });
  const stored = entries.findLast((entry) => entry.type === "message");
  const lastTime = stored?.type === "message" ? stored.time : Number.NEGATIVE_INFINITY;
  const added = messages.filter(({ timestamp }) => (timestamp ?? 0) > lastTime);
  const budget = Math.max(0, budgetTokens - countTokens(added));
  const newest = messages.findLast(({ role }) => role === "user");
  const prompt = newest === messages.at(-1) && newest ? toPlainText(fromPi(newest).content) : "";
  const wanted = { budgetTokens: budget, ...(prompt === "" ? {} : { prompt }) };
  const { messages: view } = await assembleFitting(varve, session, wanted);
  return [...view.flatMap((message) => toPi(message)).map(addTime), ...added];
}

/** pi requires a time for every message. */
function addTime(message: JsonObject): PiMessage {
  const timestamp = typeof message.timestamp === "number" ? message.timestamp : 0;
  return { ...(isJsonObject(message) ? message : {}), timestamp } as unknown as PiMessage;
}

/**
 * A turn, from message to reply:
 *
 *   inbox → session → (command) → transcript → recall → assemble → model (tools) → transcript → after-turn
 *
 * It may be interrupted anywhere and started again by another process: what was written is recognised by its ids, the rest
 * is repeated, and the reply, the end of the turn and its jobs are written atomically.
 */
import { createTitleUpdate } from "../context/index.ts";
import { type EntryDraft, type Message, toVarveError, VarveError } from "../domain/index.ts";
import { type Session, tokensUpdate } from "../session/index.ts";
import { attachStatement } from "../store/index.ts";
import { isSilentReply } from "../transcript/index.ts";
import { answerTurn } from "./answer.ts";
import { findCommand, runCommand } from "./commands.ts";
import type { TurnResult } from "./events.ts";
import { flushMemory } from "./flush.ts";
import { toAddress, toMessage } from "./inbound.ts";
import { endOfTurn, endTurn, recordProgress, type TurnClaim } from "./inbox.ts";
import type { TurnFacts, TurnServices } from "./turn.ts";
import { type Answered, getText, Interrupted, isStoreFailure, type Turn, TurnLost, type TurnRuntime } from "./turn.ts";

export async function runTurn(services: TurnServices, claim: TurnClaim, runtime: TurnRuntime): Promise<TurnResult> {
  const { turn, reset, hasNotices } = await receive(services, claim);
  const command = findCommand(turn.prompt);
  if (command) {
    const reply = await runCommand(services, turn.session, command, runtime.signal);
    return endWith(services, turn, { status: "command", reply });
  }
  if (reset !== undefined && turn.messages.length === 0) {
    return endWith(services, turn, { status: "command", reply: resetReply(reset) });
  }
  await recordInput(services, turn, hasNotices);
  if (isOverheard(claim)) return endWith(services, turn, { status: "stored", reply: "" });
  const policy = services.sessions.maySend(turn.session);
  if (!policy.allowed)
    return endWith(services, turn, { status: "held", reply: "", notes: [`No reply: ${policy.because}`] });
  try {
    const answered = await answerTurn(services, turn, runtime);
    const result = await reply(services, turn, answered);
    // A failure is counted only, and it is tried again after the next turn.
    await flushMemory(services, turn.session, answered);
    return result;
  } catch (error) {
    return failed(services, turn, runtime, error);
  }
}

/** Finds the session of the message. A trigger or an expiry opens a new one, once, however often the turn is started. */
async function receive(
  services: TurnServices,
  claim: TurnClaim,
): Promise<{ turn: Turn; reset?: "new" | "reset"; hasNotices: boolean }> {
  const [first] = claim.messages;
  if (!first) throw new VarveError("INTERNAL", "A turn without a message was claimed.");
  const { progress } = claim;
  let session: Session;
  let { text, reset } = progress;
  let hasNotices = true;
  if (progress.sessionId === undefined) {
    const received = await services.sessions.receive(
      { ...toAddress(first.inbound), agent: claim.agent },
      first.inbound.text,
      {
        displayName: first.inbound.chat?.type === "direct" ? first.inbound.from?.name : undefined,
        // The messages of the turn are appended with their time.
        touchedByAppend: true,
      },
    );
    session = received.session;
    text = received.text;
    reset = received.reset;
    hasNotices = received.hasNotices ?? true;
    // Only the effect of a trigger must not be repeated.
    if (reset !== undefined) await recordProgress(services.store, claim, { sessionId: session.sessionId, text, reset });
  } else session = await services.sessions.get(claim.key, claim.agent);
  const messages = claim.messages.flatMap(({ row, inbound }, index) => {
    const content = index === 0 ? (text ?? "") : inbound.text;
    const isEmpty = content === "" && (inbound.attachments ?? []).length === 0;
    return isEmpty ? [] : [toMessage(inbound, content, { id: row.id, time: row.accepted_at })];
  });
  const prompt = messages.map(getText).filter(Boolean).join("\n\n");
  return { turn: { claim, session, messages, prompt }, reset, hasNotices };
}

/** Writes pending notices and the messages to the transcript before anything else happens. */
async function recordInput(services: TurnServices, { session, messages }: Turn, hasNotices: boolean): Promise<void> {
  const notices = hasNotices ? await services.sessions.takeNotices(session) : [];
  const entries: EntryDraft[] = [
    ...notices.map(({ time, text }): EntryDraft => {
      const message: Message = { role: "system", content: text, time };
      return { type: "custom_message", customType: "notice", message, hidden: true };
    }),
    ...messages.map((message): EntryDraft => ({ type: "message", message })),
  ];
  // The inbox keeps the messages durably until the turn ends.
  await services.transcripts.write(session, entries, { sync: false, interactionAt: session.lastInteractionAt });
}

function isOverheard({ messages }: TurnClaim): boolean {
  return messages.every(({ inbound }) => inbound.mentioned === false);
}

/** Writes the reply, the end of the turn and its jobs in one transaction. */
async function reply(services: TurnServices, turn: Turn, answered: Answered): Promise<TurnResult> {
  const text = getText(answered.message);
  const silent = isSilentReply(text);
  const { runner, usage, facts, notes } = answered;
  const result = toResult(turn, {
    status: silent ? "silent" : "replied",
    reply: silent ? "" : text,
    runner: runner.name,
    ...(answered.model === undefined ? {} : { model: answered.model }),
    ...(usage === undefined ? {} : { usage }),
    context: { tokens: facts.observedTokens ?? facts.estimatedTokens ?? 0, window: facts.windowTokens },
    notes,
  });
  const context = facts.observedTokens ?? facts.estimatedTokens;
  const used = {
    input: usage?.inputTokens ?? 0,
    output: usage?.outputTokens ?? 0,
    ...(context === undefined ? {} : { context }),
  };
  await commit(services, turn, result, [{ ...answered.message, id: `${turn.claim.turn}:reply` }], facts, used);
  return result;
}

async function commit(
  services: TurnServices,
  { claim, session, prompt }: Turn,
  result: TurnResult,
  messages: Message[],
  facts: TurnFacts,
  used?: { input: number; output: number; context?: number },
): Promise<void> {
  const { db, clock } = services.store;
  const end = attachStatement(endOfTurn(db, claim, result, clock.now()), true);
  const title = createTitleUpdate(services.store, session, prompt);
  const count = used ? [attachStatement(tokensUpdate(db, clock.now(), session, used))] : [];
  try {
    const key = `turn ${claim.turn}`;
    const { status } = await services.context.commitWith(session, key, messages, facts, [end, ...count, ...title]);
    if (status === "duplicate") throw new VarveError("CONFLICT", `The turn ${key} was committed before.`);
  } catch (error) {
    throw error instanceof VarveError && error.code === "REFUSED" ? new TurnLost() : error;
  }
}

/** Ends a turn without a model. */
async function endWith(
  services: TurnServices,
  turn: Turn,
  end: Pick<TurnResult, "status" | "reply"> & { notes?: string[]; error?: TurnResult["error"] },
): Promise<TurnResult> {
  const result = toResult(turn, { notes: [], ...end });
  const { status, reply: text, error } = result;
  if (status === "command" || status === "failed") {
    const data = { text: turn.prompt, reply: text, ...(error ? { error: { ...error } } : {}) };
    await services.transcripts.write(turn.session, [
      {
        type: "custom",
        customType: status === "command" ? "command" : "turn_failed",
        data,
        id: `${turn.claim.turn}:${status}`,
      },
    ]);
  }
  if (!(await endTurn(services.store, turn.claim, result))) throw new TurnLost();
  return result;
}

/** Ends a turn that failed. The text before an interruption is kept; other failures are recorded and reported. */
async function failed(services: TurnServices, turn: Turn, runtime: TurnRuntime, error: unknown): Promise<TurnResult> {
  // When the store fails, nothing can be written now; the turn starts again later.
  if (error instanceof TurnLost || isStoreFailure(error)) throw error;
  if (runtime.signal.aborted) {
    const { reason } = runtime.signal;
    if (!(reason instanceof Interrupted)) throw reason;
    const result = toResult(turn, {
      status: "interrupted",
      reply: reason.text,
      notes: ["Another message came first."],
    });
    const partial: Message[] =
      reason.text === ""
        ? []
        : [{ role: "assistant", content: reason.text, stopReason: "interrupted", id: `${turn.claim.turn}:reply` }];
    await commit(services, turn, result, partial, { windowTokens: services.config.context.windowTokens });
    return result;
  }
  const { code, message, remedy } = toVarveError(error);
  return endWith(services, turn, {
    status: "failed",
    reply: "",
    error: { code, message, ...(remedy === undefined ? {} : { remedy }) },
  });
}

function toResult(
  { claim, session }: Turn,
  end: Omit<TurnResult, "turn" | "messages" | "key" | "sessionId">,
): TurnResult {
  return {
    turn: claim.turn,
    messages: claim.messages.map(({ row }) => row.id),
    key: claim.key,
    sessionId: session.sessionId,
    ...end,
  };
}

function resetReply(reset: "new" | "reset"): string {
  return reset === "new"
    ? "A new session has started. Earlier messages are kept and can be found."
    : "The conversation is archived and a new one has started. Earlier messages can still be found.";
}

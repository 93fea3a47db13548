/**
 * A turn, from message to reply:
 *
 *   inbox → session → (command) → transcript → recall → assemble → model (tools) → transcript → after-turn
 *
 * It may be cut off anywhere and begun again by another process: what was written is known by its ids, what was not is
 * done again, and the reply, the end of the turn and the work behind it are written together or not at all.
 */
import { type EntryDraft, type Message, toVarveError, VarveError } from "../domain/index.ts";
import type { Session } from "../session/index.ts";
import { attachStatement } from "../store/index.ts";
import { isSilentReply } from "../transcript/index.ts";
import { answerTurn } from "./answer.ts";
import { findCommand, runCommand } from "./commands.ts";
import type { TurnResult } from "./events.ts";
import { flushMemory } from "./flush.ts";
import type { TurnHost, WindowFacts } from "./host.ts";
import { toAddress, toMessage } from "./inbound.ts";
import { endOfTurn, endTurn, noteProgress, type TurnClaim } from "./inbox.ts";
import { getText } from "./text.ts";
import { type Answered, Interrupted, isStoreFailure, type Turn, TurnLost, type TurnRuntime } from "./turn.ts";

export async function runTurn(host: TurnHost, claimed: TurnClaim, live: TurnRuntime): Promise<TurnResult> {
  const { turn, reset, hasNotices } = await receive(host, claimed);
  const command = findCommand(turn.prompt);
  if (command) {
    const reply = await runCommand(host, turn.session, command, live.signal);
    return endWith(host, turn, { status: "command", reply });
  }
  if (reset !== undefined && turn.messages.length === 0) {
    return endWith(host, turn, { status: "command", reply: resetReply(reset) });
  }
  await recordInput(host, turn, hasNotices);
  if (isOverheard(claimed)) return endWith(host, turn, { status: "stored", reply: "" });
  const policy = host.sessions.maySend(turn.session);
  if (!policy.allowed)
    return endWith(host, turn, { status: "held", reply: "", notes: [`No reply: ${policy.because}`] });
  try {
    const answered = await answerTurn(host, turn, live);
    const result = await reply(host, turn, answered);
    // It never reaches the conversation: a failure there is counted, and it is tried again after the next turn.
    await flushMemory(host, turn.session, answered);
    return result;
  } catch (error) {
    return failed(host, turn, live, error);
  }
}

/** The session of the message. A trigger or an expiry opens a new one, once, however often the turn begins. */
async function receive(
  host: TurnHost,
  claimed: TurnClaim,
): Promise<{ turn: Turn; reset?: "new" | "reset"; hasNotices: boolean }> {
  const [first] = claimed.messages;
  if (!first) throw new VarveError("INTERNAL", "A turn without a message was claimed.");
  const { progress } = claimed;
  let session: Session;
  let { text, reset } = progress;
  let hasNotices = true;
  if (progress.sessionId === undefined) {
    const received = await host.sessions.receive(
      { ...toAddress(first.inbound), agent: claimed.agent },
      first.inbound.text,
      {
        displayName: first.inbound.chat?.type === "direct" ? first.inbound.from?.name : undefined,
      },
    );
    session = received.session;
    text = received.text;
    reset = received.reset;
    hasNotices = received.hasNotices ?? true;
    // What a trigger did must not be done again; everything else may.
    if (reset !== undefined) await noteProgress(host, claimed, { sessionId: session.sessionId, text, reset });
  } else session = await host.sessions.get(claimed.key, claimed.agent);
  const messages = claimed.messages.flatMap(({ row, inbound }, index) => {
    const said = index === 0 ? (text ?? "") : inbound.text;
    const isEmpty = said === "" && (inbound.attachments ?? []).length === 0;
    return isEmpty ? [] : [toMessage(inbound, said, { id: row.id, time: row.accepted_at })];
  });
  const prompt = messages.map(getText).filter(Boolean).join("\n\n");
  return { turn: { claimed, session, messages, prompt }, reset, hasNotices };
}

/** The messages go into the transcript before anything is done about them, behind what was left for the session. */
async function recordInput(host: TurnHost, { session, messages }: Turn, hasNotices: boolean): Promise<void> {
  const notices = hasNotices ? await host.sessions.takeNotices(session) : [];
  const entries: EntryDraft[] = [
    ...notices.map(({ time, text }): EntryDraft => {
      const message: Message = { role: "system", content: text, time };
      return { type: "custom_message", customType: "notice", message, hidden: true };
    }),
    ...messages.map((message): EntryDraft => ({ type: "message", message })),
  ];
  // The inbox holds the messages durably until the turn is over.
  await host.context.append(session, entries, { sync: false });
}

function isOverheard({ messages }: TurnClaim): boolean {
  return messages.every(({ inbound }) => inbound.mentioned === false);
}

/** The reply, the end of the turn and the work behind it: one transaction. */
async function reply(host: TurnHost, turn: Turn, answered: Answered): Promise<TurnResult> {
  const text = getText(answered.message);
  const silent = isSilentReply(text);
  const { runner, usage, facts, notes } = answered;
  const result = resultOf(turn, {
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
  await commit(host, turn, result, [{ ...answered.message, id: `${turn.claimed.turn}:reply` }], facts, used);
  return result;
}

async function commit(
  host: TurnHost,
  { claimed, session }: Turn,
  result: TurnResult,
  messages: Message[],
  facts: WindowFacts,
  used?: { input: number; output: number; context?: number },
): Promise<void> {
  const end = attachStatement(endOfTurn(host.store.db, claimed, result, host.clock.now()), true);
  const count = used ? [host.sessions.tokensUpdate(session, used)] : [];
  try {
    await host.context.commit(session, `turn ${claimed.turn}`, messages, facts, [end, ...count]);
  } catch (error) {
    throw error instanceof VarveError && error.code === "REFUSED" ? new TurnLost() : error;
  }
}

/** Ends a turn that no model has a part in. */
async function endWith(
  host: TurnHost,
  turn: Turn,
  end: Pick<TurnResult, "status" | "reply"> & { notes?: string[]; error?: TurnResult["error"] },
): Promise<TurnResult> {
  const result = resultOf(turn, { notes: [], ...end });
  const { status, reply: text, error } = result;
  if (status === "command" || status === "failed") {
    const data = { text: turn.prompt, reply: text, ...(error ? { error: { ...error } } : {}) };
    await host.context.append(turn.session, [
      {
        type: "custom",
        customType: status === "command" ? "command" : "turn_failed",
        data,
        id: `${turn.claimed.turn}:${status}`,
      },
    ]);
  }
  if (!(await endTurn(host, turn.claimed, result))) throw new TurnLost();
  return result;
}

/** What was said before an interruption stays said; everything else that fails is told, and nothing is lost by it. */
async function failed(host: TurnHost, turn: Turn, live: TurnRuntime, error: unknown): Promise<TurnResult> {
  // Where the store fails, the turn is begun again when it is back; nothing can be written about it now anyway.
  if (error instanceof TurnLost || isStoreFailure(error)) throw error;
  if (live.signal.aborted) {
    const { reason } = live.signal;
    if (!(reason instanceof Interrupted)) throw reason;
    const result = resultOf(turn, {
      status: "interrupted",
      reply: reason.said,
      notes: ["Another message came first."],
    });
    const said: Message[] =
      reason.said === ""
        ? []
        : [{ role: "assistant", content: reason.said, stopReason: "interrupted", id: `${turn.claimed.turn}:reply` }];
    await commit(host, turn, result, said, { windowTokens: host.config.context.windowTokens });
    return result;
  }
  const { code, message, remedy } = toVarveError(error);
  return endWith(host, turn, {
    status: "failed",
    reply: "",
    error: { code, message, ...(remedy === undefined ? {} : { remedy }) },
  });
}

function resultOf(
  { claimed, session }: Turn,
  end: Omit<TurnResult, "turn" | "messages" | "key" | "sessionId">,
): TurnResult {
  return {
    turn: claimed.turn,
    messages: claimed.messages.map(({ row }) => row.id),
    key: claimed.key,
    sessionId: session.sessionId,
    ...end,
  };
}

function resetReply(reset: "new" | "reset"): string {
  return reset === "new"
    ? "A new session has begun. What was said before is kept and can be found."
    : "The conversation is archived and a fresh one has begun. What was said before can still be found.";
}

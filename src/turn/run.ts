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
import { noticesDelete, type Received, readNotices, type Session, tokensUpdate } from "../session/index.ts";
import { attachStatement } from "../store/index.ts";
import { stripSilentLines } from "../transcript/index.ts";
import { answerTurn } from "./answer.ts";
import { identifySender, isStranger, mayUse, refusal, type Sender } from "./command-access.ts";
import { findCommand, getUsers, resetUsers, runCommand } from "./commands.ts";
import type { TurnResult } from "./events.ts";
import { flushMemory } from "./flush.ts";
import { type Inbound, isFromPerson, isGroup, toAddress, toMessage } from "./inbound.ts";
import { endOfTurn, endTurn, type RecordedInput, recordProgress, type TurnClaim } from "./inbox.ts";
import { readLevels } from "./levels.ts";
import type { TurnFacts, TurnServices } from "./turn.ts";
import {
  type Answered,
  getReasoning,
  getText,
  Interrupted,
  isStoreFailure,
  type Turn,
  TurnLost,
  type TurnRuntime,
} from "./turn.ts";

export async function runTurn(services: TurnServices, claim: TurnClaim, runtime: TurnRuntime): Promise<TurnResult> {
  const result = await runOnce(services, claim, runtime);
  const inbound = claim.messages[0]?.inbound;
  if (inbound?.kind === "cron" && inbound.job !== undefined) {
    const log = JSON.stringify({ status: result.status, reply: result.reply, error: result.error });
    const runId = inbound.run ?? claim.turn;
    await services.sessions.logCronRun({ agent: claim.agent, jobId: inbound.job, runId, log });
  }
  return result;
}

async function runOnce(services: TurnServices, claim: TurnClaim, runtime: TurnRuntime): Promise<TurnResult> {
  const { turn, reset, refused, hasNotices } = await receive(services, claim);
  const isPerson = claim.messages.every(({ inbound }) => isFromPerson(inbound));
  const policy = services.sessions.maySend(turn.session, { channel: claim.messages[0]?.inbound.channel });
  const held = { status: "held" as const, reply: "", notes: [`No reply: ${policy.because}`] };
  const command = isPerson && !isOverheard(claim) ? findCommand(turn.prompt) : undefined;
  const sender = refused !== undefined || command ? await identifyClaim(services, turn) : undefined;
  if (sender && (refused !== undefined || (command && !mayUse(getUsers(command), sender)))) {
    if (!sender.isInGroup)
      return endWith(services, turn, policy.allowed ? { status: "command", reply: refusal } : held);
    // In a group it gets no reply; it is kept like any other message.
    await recordInput(services, turn, hasNotices);
    return endWith(services, turn, { status: "stored", reply: "" });
  }
  if (command && sender) {
    const reply = await runCommand(services, turn.session, command, { sender, signal: runtime.signal });
    return endWith(services, turn, policy.allowed ? { status: "command", reply } : held);
  }
  if (reset !== undefined && turn.messages.length === 0) {
    return endWith(services, turn, policy.allowed ? { status: "command", reply: resetReply(reset) } : held);
  }
  await recordInput(services, turn, hasNotices);
  if (isOverheard(claim)) return endWith(services, turn, { status: "stored", reply: "" });
  if (!policy.allowed) return endWith(services, turn, held);
  try {
    const answered = await answerTurn(services, turn, runtime);
    const result = await reply(services, turn, answered, hasNotices);
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
): Promise<{ turn: Turn; reset?: "new" | "reset"; refused?: "new" | "reset"; hasNotices: boolean }> {
  const [first] = claim.messages;
  if (!first) throw new VarveError("INTERNAL", "A turn without a message was claimed.");
  const { progress } = claim;
  let session: Session;
  let { text, reset } = progress;
  let hasNotices = true;
  let refused: Received["refused"];
  if (progress.sessionId === undefined) {
    const received = await findReceiver(services, claim, first.inbound);
    session = received.session;
    text = received.text;
    reset = received.reset;
    refused = received.refused;
    hasNotices = received.hasNotices ?? true;
    // Only the effect of a trigger, or of the start of a run, must not be repeated.
    if (reset !== undefined || first.inbound.kind === "cron")
      await recordProgress(services.store, claim, { sessionId: session.sessionId, text, reset });
  } else session = await services.sessions.get(claim.key, claim.agent);
  const messages = claim.messages.flatMap(({ row, inbound }, index) => {
    const content = index === 0 ? (text ?? "") : inbound.text;
    const isEmpty = content === "" && (inbound.attachments ?? []).length === 0;
    return isEmpty ? [] : [toMessage(inbound, content, { id: row.id, time: row.accepted_at })];
  });
  const prompt = messages.map(getText).filter(Boolean).join("\n\n");
  return { turn: { claim, session, messages, prompt }, reset, refused, hasNotices };
}

/** The session for a message of a person, a heartbeat or a run of a scheduled job. */
async function findReceiver(services: TurnServices, claim: TurnClaim, inbound: Inbound): Promise<Received> {
  const { sessions } = services;
  const { text, kind, job } = inbound;
  // The message was accepted for this session; owners that were named since change nothing.
  const address = { ...toAddress(inbound), key: claim.key, agent: claim.agent };
  if (kind === "cron") {
    return { session: await sessions.beginCronRun(job ?? "", claim.agent), created: false, text };
  }
  if (kind === "heartbeat") return { ...(await sessions.open(address, { interaction: false })), text };
  return sessions.receive(address, text, {
    // A session that is named says by its key whose it is; only the owner leaves out everything.
    door: inbound.owner || isUnaddressed(inbound) ? "owner" : "channel",
    displayName: isGroup(inbound) ? undefined : inbound.from?.name,
    // The messages of the turn are appended with their time.
    touchedByAppend: true,
    mayReset: async (session, command) =>
      !isOverheard(claim) &&
      mayUse(resetUsers[command], await identifySender(services.store, services.config, session, inbound)),
  });
}

function isUnaddressed({ session, from, chat }: Inbound): boolean {
  return session === undefined && from === undefined && chat === undefined;
}

/** Writes pending notices and the messages to the transcript before anything else happens. */
async function recordInput(services: TurnServices, turn: Turn, hasNotices: boolean): Promise<void> {
  const { claim, session, messages } = turn;
  const notices = hasNotices ? await services.sessions.takeNotices(session) : [];
  const [first] = claim.messages;
  const isFromStranger = first && (await isStranger(services.store, services.config, session, first.inbound));
  const trust = isFromStranger ? { trust: "untrusted" as const } : {};
  const entries: EntryDraft[] = [
    ...notices.map(({ time, text }, index): EntryDraft => {
      const message: Message = { role: "system", content: text, time };
      const id = `${claim.turn}:${claim.attempt}:notice:${index}`;
      return { type: "custom_message", customType: "notice", message, hidden: true, id };
    }),
    ...messages.map((message): EntryDraft => ({ type: "message", message, ...trust })),
  ];
  // The inbox keeps the messages durably until the turn ends.
  const isPerson = claim.messages.some(({ inbound }) => isFromPerson(inbound));
  const touch = isPerson ? { interactionAt: session.lastInteractionAt } : {};
  await services.transcripts.write(session, entries, { sync: false, ...touch });
  // An SQLite file is lost only together with this process.
  if (services.store.engine === "postgres") turn.recorded = entries;
}

/** The sender of a turn. The messages of a turn have one sender. */
async function identifyClaim({ store, config }: TurnServices, { claim, session }: Turn): Promise<Sender> {
  const [first] = claim.messages;
  return first ? identifySender(store, config, session, first.inbound) : { isOwner: false, isInGroup: true };
}

function isOverheard({ messages }: TurnClaim): boolean {
  return messages.every(({ inbound }) => inbound.mentioned === false);
}

/** Writes the reply, the end of the turn and its jobs in one transaction. */
async function reply(services: TurnServices, turn: Turn, answered: Answered, hasNotices: boolean): Promise<TurnResult> {
  const delivered = stripSilentLines(getText(answered.message));
  const silent = delivered.isSilent || (isHeartbeat(turn) && heartbeatOk.test(delivered.text));
  const { runner, usage, facts, notes } = answered;
  const notices = hasNotices ? await readNotices(services.store, turn.session, "user") : [];
  const { isInResult } = readLevels(turn.session).reasoning;
  const reasoning = isInResult ? getReasoning(answered.message) : "";
  const result = toResult(turn, {
    status: silent ? "silent" : "replied",
    reply: silent ? "" : delivered.text.trim(),
    ...(reasoning === "" ? {} : { reasoning }),
    runner: runner.name,
    ...(answered.model === undefined ? {} : { model: answered.model }),
    ...(usage === undefined ? {} : { usage }),
    context: {
      tokens: facts.observedTokens ?? facts.estimatedTokens ?? 0,
      window: facts.windowTokens,
      ...(facts.cacheableShare === undefined ? {} : { cacheable: facts.cacheableShare }),
    },
    notes: [...notices.map(({ text }) => text), ...notes],
  });
  const context = facts.observedTokens ?? facts.estimatedTokens;
  const used = {
    input: usage?.inputTokens ?? 0,
    output: usage?.outputTokens ?? 0,
    ...(context === undefined ? {} : { context }),
  };
  await commit(services, turn, result, [{ ...answered.message, id: `${turn.claim.turn}:reply` }], facts, {
    used,
    notices: notices.map(({ id }) => id),
  });
  return result;
}

/** The reply to a heartbeat that has nothing to report. */
const heartbeatOk = /^\s*HEARTBEAT_OK\s*$/;

function isHeartbeat({ claim }: Turn): boolean {
  return claim.messages.every(({ inbound }) => inbound.kind === "heartbeat");
}

async function commit(
  services: TurnServices,
  turn: Turn,
  result: TurnResult,
  messages: Message[],
  facts: TurnFacts,
  { used, notices = [] }: { used?: { input: number; output: number; context?: number }; notices?: string[] } = {},
): Promise<void> {
  const { claim, session, prompt, recorded } = turn;
  const { db, clock } = services.store;
  const title = createTitleUpdate(services.store, session, prompt);
  const count = used ? [attachStatement(tokensUpdate(db, clock.now(), session, used))] : [];
  const told = notices.length === 0 ? [] : [attachStatement(noticesDelete(db, session, notices))];
  try {
    const key = `turn ${claim.turn}`;
    const write = (input: RecordedInput | undefined, repeated: EntryDraft[] = []) => {
      const end = attachStatement(endOfTurn(db, claim, result, clock.now(), input), true);
      const attached = [end, ...count, ...told, ...title];
      return services.context.commitWith(session, key, messages, facts, { attached, recorded: repeated });
    };
    const input = findRecordedInput(turn);
    const { status } = await write(input).catch((error: unknown) => {
      // The server may have lost the input; if the turn was taken over instead, this is refused too.
      if (input === undefined || !isRefused(error)) throw error;
      return write(undefined, recorded);
    });
    if (status === "duplicate") throw new VarveError("CONFLICT", `The turn ${key} was committed before.`);
  } catch (error) {
    throw isRefused(error) ? new TurnLost() : error;
  }
}

function isRefused(error: unknown): boolean {
  return error instanceof VarveError && error.code === "REFUSED";
}

/** The last message of the input, where the server may have lost it. */
function findRecordedInput({ recorded, session, messages }: Turn): RecordedInput | undefined {
  const id = messages.at(-1)?.id;
  return recorded === undefined || id === undefined ? undefined : { conversation: session.conversation, id };
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
    const customType = status === "command" ? "command" : "turn_failed";
    const entry: EntryDraft = { type: "custom", customType, data, id: `${turn.claim.turn}:${status}` };
    await services.transcripts.write(turn.session, [entry]);
  }
  const { store } = services;
  const input = findRecordedInput(turn);
  if (await endTurn(store, turn.claim, result, input)) return result;
  // The server may have lost the input.
  if (input !== undefined) await services.transcripts.write(turn.session, turn.recorded ?? []);
  if (input === undefined || !(await endTurn(store, turn.claim, result))) throw new TurnLost();
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

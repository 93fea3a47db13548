import {
  getParts,
  isHosted,
  type Message,
  type Part,
  type ToolCallPart,
  type ToolResultPart,
} from "../../domain/index.ts";
import type { RecordChange } from "./changes.ts";

/** Replaces a result that was never recorded, because providers reject a call without one. */
const missingOutput = "No result was recorded for this call.";

/**
 * Gives every call exactly one result, directly after it. Messages that are already in order are returned as the same
 * objects, so that a provider's prompt cache still matches.
 */
export function pairResults(messages: readonly Message[], record: RecordChange): Message[] {
  const list = messages.flatMap((message) => splitAnswer(message, record));
  const answers = matchResults(list, record);
  const taken = new Set<number>();
  const cleaned: Message[] = [];
  for (const [index, message] of list.entries()) {
    if (taken.has(index)) continue;
    const results = getClientResults(message);
    if (results.length === 0) cleaned.push(message);
    else cleaned.push(...dropResults(message));
    if (message.role !== "assistant") continue;
    const runs = groupResults(getClientCalls(message), answers);
    for (const run of runs) {
      const source = run.from === undefined ? undefined : list[run.from];
      const isNext = run.from !== undefined && run.from === findNextIndex(index, taken);
      if (source !== undefined && run.from !== undefined && isNext && matchesGroup(source, run, run === runs.at(-1))) {
        taken.add(run.from);
        cleaned.push(source);
        continue;
      }
      const ids = run.results.map((result) => result.callId).join(", ");
      if (source === undefined) record("missing-result", message, `for the call ${ids}`);
      else record("displaced-result", source, `the result of ${ids} was moved after its call`);
      cleaned.push(createResultMessage(run.results, source));
    }
  }
  return cleaned;
}

/** Splits an answer that contains results into several answers with the results between them. */
function splitAnswer(message: Message, record: RecordChange): Message[] {
  if (message.role !== "assistant" || getClientResults(message).length === 0) return [message];
  record("split-answer", message, "it contained results of its own calls");
  const { id: _first, ...unnamed } = message;
  const pieces: Message[] = [];
  for (const part of getParts(message)) {
    const role = isClientResult(part) ? "tool" : "assistant";
    const last = pieces.at(-1);
    if (last?.role === role && typeof last.content !== "string") last.content.push(part);
    else if (role === "tool") pieces.push({ role, content: [part] });
    else pieces.push({ ...(pieces.length === 0 ? message : unnamed), content: [part] });
  }
  return pieces;
}

interface ResultGroup {
  /** The message that contained the results; absent for generated ones. */
  from: number | undefined;
  results: ToolResultPart[];
}

function groupResults(
  calls: ToolCallPart[],
  answers: ReadonlyMap<ToolCallPart, { from: number; result: ToolResultPart }>,
): ResultGroup[] {
  const runs: ResultGroup[] = [];
  for (const call of calls) {
    const answer = answers.get(call);
    const result = answer?.result ?? createMissingResult(call);
    const last = runs.at(-1);
    if (last !== undefined && last.from === answer?.from) last.results.push(result);
    else runs.push({ from: answer?.from, results: [result] });
  }
  return runs;
}

function createMissingResult(call: ToolCallPart): ToolResultPart {
  return { type: "tool_result", callId: call.callId, name: call.name, output: missingOutput, isError: true };
}

function findNextIndex(index: number, taken: ReadonlySet<number>): number {
  let next = index + 1;
  while (taken.has(next)) next += 1;
  return next;
}

/** Whether a message contains exactly the results of a run; after the last run, user content may follow. */
function matchesGroup(source: Message, run: ResultGroup, isLast: boolean): boolean {
  const results = getClientResults(source);
  const head = getParts(source).slice(0, results.length);
  return (
    (source.role === "tool" || source.role === "user") &&
    results.length === run.results.length &&
    (isLast || results.length === getParts(source).length) &&
    head.every((part, position) => part === run.results[position])
  );
}

function dropResults(message: Message): Message[] {
  const rest = getParts(message).filter((part) => !isClientResult(part));
  if (rest.length === 0) return [];
  const { wire: _results, ...plain } = message;
  return [{ ...plain, role: message.role === "tool" ? "user" : message.role, content: rest }];
}

function createResultMessage(results: ToolResultPart[], source: Message | undefined): Message {
  return source?.time === undefined
    ? { role: "tool", content: results }
    : { role: "tool", content: results, time: source.time };
}

interface Answer {
  from: number;
  result: ToolResultPart;
}

/** The unanswered calls of one turn that share an id. */
interface WaitingCalls {
  at: number;
  calls: ToolCallPart[];
}

/**
 * Matches every call with its result. Ids may be reused, and formats without ids give all calls of a tool the same id,
 * so a result belongs to the newest earlier turn with an unanswered call of that id, and there to the first such call.
 * A result that precedes every call of its id is matched last, against later calls.
 */
function matchResults(messages: readonly Message[], record: RecordChange): Map<ToolCallPart, Answer> {
  const answers = new Map<ToolCallPart, Answer>();
  const waiting = new Map<string, WaitingCalls[]>();
  const early: Answer[] = [];
  for (const [from, message] of messages.entries()) {
    for (const result of getClientResults(message)) {
      const turns = waiting.get(result.callId);
      const call = turns?.findLast((turn) => turn.calls.length > 0)?.calls.shift();
      if (call !== undefined) answers.set(call, { from, result });
      else if (turns === undefined) early.push({ from, result });
      else record("duplicate-result", message, `of the call ${result.callId}`);
    }
    if (message.role === "assistant") addWaiting(waiting, from, getClientCalls(message));
  }
  for (const answer of early) {
    const { result, from } = answer;
    const turns = waiting.get(result.callId);
    const call = turns?.find((turn) => turn.at > from && turn.calls.length > 0)?.calls.shift();
    if (call !== undefined) answers.set(call, answer);
    else if (turns === undefined) record("orphan-result", messages[from], `there is no call ${result.callId}`);
    else record("duplicate-result", messages[from], `of the call ${result.callId}`);
  }
  return answers;
}

function addWaiting(waiting: Map<string, WaitingCalls[]>, at: number, calls: ToolCallPart[]): void {
  for (const [id, alike] of Map.groupBy(calls, (call) => call.callId)) {
    const turn = { at, calls: [...alike] };
    const turns = waiting.get(id);
    if (turns === undefined) waiting.set(id, [turn]);
    else turns.push(turn);
  }
}

/** The calls of a message that the client must answer; hosted tools are answered by the provider. */
function getClientCalls(message: Message): ToolCallPart[] {
  return getParts(message).filter((part): part is ToolCallPart => part.type === "tool_call" && !isHosted(part));
}

function getClientResults(message: Message): ToolResultPart[] {
  return getParts(message).filter(isClientResult);
}

function isClientResult(part: Part): part is ToolResultPart {
  return part.type === "tool_result" && !isHosted(part);
}

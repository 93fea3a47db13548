import { getParts, type Message, type ToolCallPart, type ToolResultPart } from "../../domain/index.ts";
import type { Note } from "./changes.ts";
import { clientCalls, clientResults, isClientResult } from "./client-parts.ts";
import { matchResults } from "./matching.ts";

/** What stands in for a result that was never recorded, because a provider refuses a call without one. */
export const missingOutput = "No result was recorded for this call.";

/**
 * Gives every call exactly one result, in the messages right behind it. Messages that are in order already stay the
 * very same, so that a provider's cache of them still holds.
 */
export function pairResults(messages: readonly Message[], note: Note): Message[] {
  const list = messages.flatMap((message) => splitAnswer(message, note));
  const answers = matchResults(list, note);
  const taken = new Set<number>();
  const cleaned: Message[] = [];
  for (const [index, message] of list.entries()) {
    if (taken.has(index)) continue;
    const results = clientResults(message);
    if (results.length === 0) cleaned.push(message);
    else cleaned.push(...withoutResults(message));
    if (message.role !== "assistant") continue;
    const runs = runsOf(clientCalls(message), answers);
    for (const run of runs) {
      const source = run.from === undefined ? undefined : list[run.from];
      const isNext = run.from !== undefined && run.from === nextAfter(index, taken);
      if (source !== undefined && run.from !== undefined && isNext && isWhole(source, run, run === runs.at(-1))) {
        taken.add(run.from);
        cleaned.push(source);
        continue;
      }
      const ids = run.results.map((result) => result.callId).join(", ");
      if (source === undefined) note("missing-result", message, `for the call ${ids}`);
      else note("displaced-result", source, `the result of ${ids} moved behind its call`);
      cleaned.push(resultMessage(run.results, source));
    }
  }
  return cleaned;
}

/** An answer with results in its middle is several answers with results between them. */
function splitAnswer(message: Message, note: Note): Message[] {
  if (message.role !== "assistant" || clientResults(message).length === 0) return [message];
  note("split-answer", message, "it held results of its own calls");
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

interface Run {
  /** The message that the results were found in; absent for results that are made up. */
  from: number | undefined;
  results: ToolResultPart[];
}

function runsOf(
  calls: ToolCallPart[],
  answers: ReadonlyMap<ToolCallPart, { from: number; result: ToolResultPart }>,
): Run[] {
  const runs: Run[] = [];
  for (const call of calls) {
    const answer = answers.get(call);
    const result = answer?.result ?? missingResult(call);
    const last = runs.at(-1);
    if (last !== undefined && last.from === answer?.from) last.results.push(result);
    else runs.push({ from: answer?.from, results: [result] });
  }
  return runs;
}

function missingResult(call: ToolCallPart): ToolResultPart {
  return { type: "tool_result", callId: call.callId, name: call.name, output: missingOutput, isError: true };
}

function nextAfter(index: number, taken: ReadonlySet<number>): number {
  let next = index + 1;
  while (taken.has(next)) next += 1;
  return next;
}

/** Whether a message holds exactly a run's results; behind the last of them, what the user added may follow. */
function isWhole(source: Message, run: Run, isLast: boolean): boolean {
  const results = clientResults(source);
  const head = getParts(source).slice(0, results.length);
  return (
    (source.role === "tool" || source.role === "user") &&
    results.length === run.results.length &&
    (isLast || results.length === getParts(source).length) &&
    head.every((part, position) => part === run.results[position])
  );
}

function withoutResults(message: Message): Message[] {
  const rest = getParts(message).filter((part) => !isClientResult(part));
  if (rest.length === 0) return [];
  const { wire: _results, ...plain } = message;
  return [{ ...plain, role: message.role === "tool" ? "user" : message.role, content: rest }];
}

function resultMessage(results: ToolResultPart[], source: Message | undefined): Message {
  return source?.time === undefined
    ? { role: "tool", content: results }
    : { role: "tool", content: results, time: source.time };
}

import type { Message, ToolCallPart, ToolResultPart } from "../../domain/index.ts";
import type { Note } from "./changes.ts";
import { clientCalls, clientResults } from "./client-parts.ts";

interface Answer {
  from: number;
  result: ToolResultPart;
}

/** The calls of one turn that share an id and still wait. */
interface Waiting {
  at: number;
  calls: ToolCallPart[];
}

/**
 * Finds the result of every call. Ids may be used again, and formats without ids give all calls of a tool the same
 * one, so a result goes to the newest turn before it that still waits for one of that id, and there to the first such
 * call. A result that comes before any call of its id is tried last, against the calls behind it.
 */
export function matchResults(messages: readonly Message[], note: Note): Map<ToolCallPart, Answer> {
  const answers = new Map<ToolCallPart, Answer>();
  const waiting = new Map<string, Waiting[]>();
  const early: Answer[] = [];
  for (const [from, message] of messages.entries()) {
    for (const result of clientResults(message)) {
      const turns = waiting.get(result.callId);
      const call = turns?.findLast((turn) => turn.calls.length > 0)?.calls.shift();
      if (call !== undefined) answers.set(call, { from, result });
      else if (turns === undefined) early.push({ from, result });
      else note("duplicate-result", message, `of the call ${result.callId}`);
    }
    if (message.role === "assistant") expect(waiting, from, clientCalls(message));
  }
  for (const answer of early) {
    const { result, from } = answer;
    const turns = waiting.get(result.callId);
    const call = turns?.find((turn) => turn.at > from && turn.calls.length > 0)?.calls.shift();
    if (call !== undefined) answers.set(call, answer);
    else if (turns === undefined) note("orphan-result", messages[from], `there is no call ${result.callId}`);
    else note("duplicate-result", messages[from], `of the call ${result.callId}`);
  }
  return answers;
}

function expect(waiting: Map<string, Waiting[]>, at: number, calls: ToolCallPart[]): void {
  for (const [id, alike] of Map.groupBy(calls, (call) => call.callId)) {
    const turn = { at, calls: [...alike] };
    const turns = waiting.get(id);
    if (turns === undefined) waiting.set(id, [turn]);
    else turns.push(turn);
  }
}

/** The thread that runs regular expressions. Its owner ends it when a search takes too long or is cancelled. */
import { type MessagePort, parentPort } from "node:worker_threads";
import { toVarveError, VarveError } from "../../../domain/index.ts";
import { findLines, findTexts } from "./find-places.ts";
import type { MatchAnswer, MatchReply, MatchRequest } from "./match-protocol.ts";
import { compilePattern, type Pattern } from "./pattern.ts";
import { lowerThreadPriority } from "./thread-priority.ts";

if (!parentPort) throw new Error("this file must run as a worker thread");
const port: MessagePort = parentPort;
let pattern: Pattern | undefined;
// A search takes long where others wait for an answer in milliseconds.
lowerThreadPriority();

function answer(request: MatchRequest): MatchAnswer {
  if (request.op === "start") return undefined;
  if (request.op === "compile") {
    pattern = compilePattern(request.pattern);
    return undefined;
  }
  if (!pattern) throw new VarveError("INTERNAL", "No pattern was compiled.");
  const { find } = pattern;
  return request.op === "texts"
    ? findTexts(find, request.texts, request.max)
    : findLines(find, request.text, request.max);
}

port.on("message", (request: MatchRequest) => {
  try {
    port.postMessage({ value: answer(request) } satisfies MatchReply);
  } catch (error) {
    const { code, message, remedy } = toVarveError(error);
    port.postMessage({ error: { code, message, remedy } } satisfies MatchReply);
  }
});

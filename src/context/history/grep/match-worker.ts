/** The thread that runs regular expressions. Its owner ends it when a search takes too long or is cancelled. */
import { type MessagePort, parentPort } from "node:worker_threads";
import { toVarveError, VarveError } from "../../../domain/index.ts";
import { findLines, findTexts } from "./find-places.ts";
import type { LoadedMessages } from "./loaded-messages.ts";
import type { MatchAnswer, MatchReply, MatchRequest } from "./match-protocol.ts";
import { compilePattern, type Pattern } from "./pattern.ts";
import { lowerThreadPriority } from "./thread-priority.ts";

if (!parentPort) throw new Error("this file must run as a worker thread");
const port: MessagePort = parentPort;
let pattern: Pattern | undefined;
let loaded: LoadedMessages | undefined;
// A search takes long where others wait for an answer in milliseconds.
lowerThreadPriority();

async function answer(request: MatchRequest): Promise<MatchAnswer> {
  switch (request.op) {
    case "start":
      return undefined;
    case "compile":
      pattern = compilePattern(request.pattern);
      return undefined;
    case "texts":
      return findTexts(requirePattern().find, request.texts, request.max);
    case "lines":
      return findLines(requirePattern().find, request.text, request.max);
    case "open": {
      // Loaded on demand: decoding entries needs much more code than matching.
      const { LoadedMessages } = await import("./loaded-messages.ts");
      loaded = await LoadedMessages.open(request.source);
      return undefined;
    }
    case "load":
      return requireLoaded().load(request.seqs, request.charactersMax);
    case "messages":
      return requireLoaded().find(requirePattern().find, request.max);
    case "close":
      loaded?.close();
      loaded = undefined;
      return undefined;
  }
}

function requirePattern(): Pattern {
  if (!pattern) throw new VarveError("INTERNAL", "No pattern was compiled.");
  return pattern;
}

function requireLoaded(): LoadedMessages {
  if (!loaded) throw new VarveError("INTERNAL", "No file was opened.");
  return loaded;
}

port.on("message", (request: MatchRequest) => {
  answer(request).then(
    (value) => port.postMessage({ value } satisfies MatchReply),
    (error: unknown) => {
      const { code, message, remedy } = toVarveError(error);
      port.postMessage({ error: { code, message, remedy } } satisfies MatchReply);
    },
  );
});

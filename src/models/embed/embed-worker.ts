/** The worker thread that owns the embedding model. It processes requests in order. */
import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import { toVarveError } from "../../domain/index.ts";
import { MiniLmSession } from "./minilm-session.ts";
import type { EmbedReply, EmbedRequest, EmbedWorkerData } from "./worker-protocol.ts";

if (!parentPort) throw new Error("this file must run as a worker thread");
const port: MessagePort = parentPort;
const { cacheFolder } = workerData as EmbedWorkerData;
const opened = MiniLmSession.open(cacheFolder);
opened.catch(() => undefined);

async function answer(request: EmbedRequest): Promise<EmbedReply["value"]> {
  const session = await opened;
  if (request.op === "query") return session.embedQuery(request.text);
  const results = [];
  for (const { text, speaker } of request.texts) results.push(await session.embed(text, speaker));
  return results;
}

// One request at a time, in order of arrival.
let last: Promise<unknown> = Promise.resolve();
port.on("message", (request: EmbedRequest) => {
  last = last.then(async () => {
    try {
      port.postMessage({ id: request.id, value: await answer(request) } satisfies EmbedReply);
    } catch (error) {
      const known = toVarveError(error);
      const plain = { message: known.message, code: known.code, remedy: known.remedy };
      port.postMessage({ id: request.id, error: plain } satisfies EmbedReply);
    }
  });
});

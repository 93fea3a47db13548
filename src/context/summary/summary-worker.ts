/** The thread that writes built-in summaries, so that the event loop of its owner does not wait for them. */
import { type MessagePort, parentPort } from "node:worker_threads";
import { toVarveError } from "../../domain/index.ts";
import { writeBuiltInSummary } from "./built-in-summary.ts";
import type { SummaryThreadReply, SummaryThreadRequest } from "./summary-thread.ts";

if (!parentPort) throw new Error("this file must run as a worker thread");
const port: MessagePort = parentPort;

port.on("message", ({ id, input, targets }: SummaryThreadRequest) => {
  try {
    port.postMessage({ id, written: writeBuiltInSummary(input, targets) } satisfies SummaryThreadReply);
  } catch (error) {
    const { code, message, remedy } = toVarveError(error);
    port.postMessage({ id, error: { code, message, remedy } } satisfies SummaryThreadReply);
  }
});

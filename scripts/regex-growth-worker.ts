/** The thread that measures patterns, so that one that never ends can be ended. */
import { parentPort, workerData } from "node:worker_threads";
import { findSuperlinearGrowth } from "./regex-growth.ts";
import type { RegexLiteral } from "./regex-literals.ts";

for (const [index, { source, flags }] of (workerData as RegexLiteral[]).entries()) {
  parentPort?.postMessage({ index, growth: findSuperlinearGrowth(source, flags) });
}

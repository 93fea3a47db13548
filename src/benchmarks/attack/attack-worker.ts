/** The thread of the attackers: what they cost must not slow down the people whose turns are measured. */
import { parentPort, workerData } from "node:worker_threads";
import { type AttackKind, attack } from "./attackers.ts";

export interface AttackTask {
  url: string;
  tokens: readonly string[];
  kinds?: readonly AttackKind[];
}

if (!parentPort) throw new Error("this file must run as a worker thread");
const port = parentPort;
const { url, tokens, kinds } = workerData as AttackTask;
const end = new AbortController();
port.once("message", () => end.abort());
port.postMessage(await attack(url, tokens, end.signal, kinds));
port.close();

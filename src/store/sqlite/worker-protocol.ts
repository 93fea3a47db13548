import type { MessagePort } from "node:worker_threads";
import type { AppendBatch, NearDuplicateQuery, NewMemoryRows, VectorPageQuery } from "../port.ts";

export interface WorkerData {
  file: string;
  mode: "writer" | "reader";
  busyTimeoutMs: number;
  cacheMiB: number;
}

/** The start data of a spare thread, before its database is known. */
export interface SpareData {
  /** One 32-bit word, set and notified when the settings were posted. */
  assigned: SharedArrayBuffer;
}

export type WorkerCall =
  | { op: "execute"; sql: string; parameters: readonly unknown[] }
  | { op: "executeAll"; statements: readonly { sql: string; parameters: readonly unknown[] }[] }
  | { op: "writeAll"; statements: readonly { sql: string; parameters: readonly unknown[] }[]; sync: boolean }
  | { op: "append"; batch: AppendBatch; ownTransaction: boolean }
  | { op: "insertMemory"; memory: NewMemoryRows; unless?: NearDuplicateQuery; ownTransaction: boolean }
  | { op: "matchNearDuplicates"; query: NearDuplicateQuery }
  | { op: "readVectors"; query: VectorPageQuery }
  | { op: "rollback" }
  | { op: "rebuildText"; rows: { seq: number; words: string }[] }
  | { op: "backup"; file: string }
  /** Opens another connection in the same thread, which answers on this port. */
  | { op: "attach"; port: MessagePort; settings: WorkerData }
  | { op: "close" };

export type WorkerRequest = WorkerCall & { id: number };

export interface WorkerReply {
  id: number;
  value?: unknown;
  error?: { message: string; code: string };
}

/** Begins a transaction whose commit does not wait for the disk. */
export const beginWithoutSync = "begin immediate -- relaxed";

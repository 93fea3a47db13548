import type { AppendBatch, NearDuplicateQuery, NewMemoryRows } from "../port.ts";

export interface WorkerData {
  file: string;
  mode: "writer" | "reader";
  busyTimeoutMs: number;
  cacheMiB: number;
}

export type WorkerCall =
  | { op: "execute"; sql: string; parameters: readonly unknown[] }
  | { op: "executeAll"; statements: readonly { sql: string; parameters: readonly unknown[] }[] }
  | { op: "writeAll"; statements: readonly { sql: string; parameters: readonly unknown[] }[]; sync: boolean }
  | { op: "append"; batch: AppendBatch; ownTransaction: boolean }
  | { op: "insertMemory"; memory: NewMemoryRows; unless?: NearDuplicateQuery; ownTransaction: boolean }
  | { op: "matchNearDuplicates"; query: NearDuplicateQuery }
  | { op: "rollback" }
  | { op: "rebuildText"; rows: { seq: number; words: string }[] }
  | { op: "backup"; file: string }
  | { op: "close" };

export type WorkerRequest = WorkerCall & { id: number };

export interface WorkerReply {
  id: number;
  value?: unknown;
  error?: { message: string; code: string };
}

/** Begins a transaction whose commit does not wait for the disk. */
export const beginWithoutSync = "begin immediate -- relaxed";

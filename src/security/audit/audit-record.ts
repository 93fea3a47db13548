import { createHash } from "node:crypto";
import type { AuditTable } from "../../store/index.ts";

/** An audit record: who did what, to which objects, with what result. It never has content of messages or memories. */
export interface AuditEvent {
  /** `owner`, the name of an access token (with its id for one of the database), a browser. */
  principal: string;
  /** A route (`GET /api/sessions/{key}`), a tool (`tool memory_recall`) or a command (`varve export`). */
  action: string;
  /** The ids of the objects, by kind. */
  targets?: Readonly<Record<string, string>>;
  /** An HTTP status, `ok`, `started`, or the code of an error. */
  status: string;
}

export interface AuditRecord {
  num: number;
  time: number;
  /** The process that recorded it. */
  process: string;
  principal: string;
  action: string;
  targets: Record<string, string>;
  status: string;
  hash: string;
}

/** The position of a row in the chain. */
export interface ChainLink {
  num: number;
  hash: string;
}

/** The link before the first row. */
export const chainStart: ChainLink = { num: 0, hash: "0".repeat(64) };

/** The hash of a row: SHA-256 of the previous hash and of the row's columns, as a JSON list. */
export function hashRow(previous: string, row: Omit<AuditTable, "hash">): string {
  const columns = [row.num, row.time, row.process, row.principal, row.action, row.targets, row.status];
  return createHash("sha256")
    .update(`${previous}\n${JSON.stringify(columns)}`)
    .digest("hex");
}

export function recordFromRow({ targets, ...row }: AuditTable): AuditRecord {
  return { ...row, targets: JSON.parse(targets) as Record<string, string> };
}

const textLengthMax = 300;

/** Text that both engines can store, with a limit; ids come from clients. */
export function cleanText(text: string): string {
  const clean = text.replaceAll("\u0000", "").toWellFormed();
  return clean.length > textLengthMax ? `${clean.slice(0, textLengthMax - 1).toWellFormed()}…` : clean;
}

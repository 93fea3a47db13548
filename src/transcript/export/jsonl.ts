import type { Entry, JsonObject } from "../../domain/index.ts";

/** What the first line of an export says of the session. */
export interface ExportHeader {
  sessionId: string;
  key: string;
  agent: string;
  startedAt: number;
  title?: string;
  /** The entry the conversation goes on from; it is not the last line when the active branch is an older one. */
  head?: string;
  meta?: JsonObject;
}

export function jsonlHeader(header: ExportHeader): string {
  return `${JSON.stringify({ type: "varve_session", version: 1, ...header })}\n`;
}

/** One entry as one line; numbers that only this store knows are left out. */
export function jsonlLine(entry: Entry): string {
  const { seq: _seq, tokens: _tokens, ...rest } = entry;
  return `${JSON.stringify(rest)}\n`;
}

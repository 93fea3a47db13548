import type { Entry, JsonObject } from "../../domain/index.ts";

/** The first line of an export: facts about the session. */
export interface ExportHeader {
  sessionId: string;
  key: string;
  agent: string;
  startedAt: number;
  title?: string;
  /** The entry the conversation continues from; not the last line when an older branch is active. */
  head?: string;
  meta?: JsonObject;
}

export function jsonlHeader(header: ExportHeader): string {
  return `${JSON.stringify({ type: "varve_session", version: 1, ...header })}\n`;
}

/** One entry per line, without numbers that only this store knows. */
export function jsonlLine(entry: Entry): string {
  const { seq: _seq, tokens: _tokens, ...rest } = entry;
  return `${JSON.stringify(rest)}\n`;
}

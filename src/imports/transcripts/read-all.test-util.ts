import type { EntryDraft, JsonValue } from "../../domain/index.ts";
import type { ImportedSession, ReaderEvent, SourceFormat } from "./reader.ts";

export interface Reading {
  events: ReaderEvent[];
  sessions: ImportedSession[];
  entries: (EntryDraft & { id: string; time: number; sessionId: string })[];
  bad: string[];
  state: JsonValue | undefined;
}

/** Reads records like an import does; strings are passed as they are, anything else as JSON. */
export function readAll(
  format: SourceFormat,
  records: readonly unknown[],
  options: { path?: string; state?: JsonValue; fileTime?: number } = {},
): Reading {
  const reader = format.open({
    path: options.path ?? "/somewhere/file.jsonl",
    fileTime: options.fileTime ?? 1_000,
    ...(options.state === undefined ? {} : { state: options.state }),
  });
  const events = records.flatMap((record, index) =>
    reader.read(typeof record === "string" ? record : JSON.stringify(record), index + 1),
  );
  return {
    events,
    sessions: events.flatMap((event) => (event.kind === "session" ? [event.session] : [])),
    entries: events.flatMap((event) =>
      event.kind === "entry" ? [{ ...event.entry, sessionId: event.sessionId }] : [],
    ),
    bad: events.flatMap((event) => (event.kind === "bad" ? [event.reason] : [])),
    state: reader.state(),
  };
}

import type { ImportOptions, ImportReport, ImportTarget, PlannedTranscript } from "./import-types.ts";
import { findLegacySessions } from "./legacy.ts";
import type { ImportedSession, SourceFormat } from "./reader.ts";
import type { TranscriptSource } from "./transcript-source.ts";

/** Reads a transcript as an import would, and reports what it contains without writing anything. */
export async function planTranscript(
  target: ImportTarget,
  options: ImportOptions,
  format: SourceFormat,
  source: TranscriptSource,
  report: ImportReport,
  sessions: Set<string>,
  name: string | undefined,
): Promise<void> {
  const reader = format.open({ path: source.path, name, fileTime: Math.trunc(source.measure().mtimeMs) });
  const legacy = source.sessions ?? findLegacySessions(source.path);
  const announced = new Map<string, ImportedSession>();
  const planned = new Map<string, PlannedTranscript>();
  for await (const record of source.read({ record: 0, end: 0 }, options.signal)) {
    const events = record.text === undefined ? [] : reader.read(record.text, record.number);
    const bad = record.text === undefined ? "the record is not valid UTF-8" : undefined;
    for (const event of [...events, ...(bad ? [{ kind: "bad" as const, reason: bad }] : [])]) {
      if (event.kind === "session") announced.set(event.session.sessionId, event.session);
      if (event.kind === "bad") {
        report.quarantined += 1;
        report.broken.push({ path: source.path, record: record.number, reason: event.reason });
      }
      if (event.kind !== "entry") continue;
      sessions.add(event.sessionId);
      const found = announced.get(event.sessionId) ?? { sessionId: event.sessionId, channel: format.name };
      const known = legacy.get(found.continues?.firstId ?? event.sessionId);
      const plan = planned.get(event.sessionId) ?? (await createPlan(target, options.agent, source, found, known));
      planned.set(event.sessionId, plan);
      if (event.entry.type === "message" || event.entry.type === "custom_message") plan.messages += 1;
      else plan.otherEntries += 1;
    }
  }
  for (const plan of planned.values()) {
    report.transcripts.push(plan);
    report.otherEntries += plan.otherEntries;
    if (plan.known) report.duplicates += plan.messages;
    else report.imported += plan.messages;
  }
}

async function createPlan(
  { store, resolveKey }: ImportTarget,
  agent: string,
  { path }: TranscriptSource,
  found: ImportedSession,
  legacy: Parameters<ImportTarget["resolveKey"]>[2],
): Promise<PlannedTranscript> {
  const { sessionId } = found;
  const place = resolveKey(found, agent, legacy);
  const known = await store.db
    .selectFrom("transcripts")
    .select("id")
    .where("agent", "=", place.agent)
    .where("session_id", "=", sessionId)
    .executeTakeFirst();
  const archived = legacy?.archived === undefined ? {} : { archived: legacy.archived.reason };
  const renamed = legacy?.sourceKey !== undefined && legacy.sourceKey !== place.key ? { from: legacy.sourceKey } : {};
  return {
    path,
    ...place,
    sessionId,
    messages: 0,
    otherEntries: 0,
    known: known !== undefined,
    ...archived,
    ...renamed,
  };
}

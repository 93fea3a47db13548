/** Compares what OpenClaw keeps of its sessions with what Varve stored of them. */
import { isDeepStrictEqual } from "node:util";
import { zstdDecompressSync } from "node:zlib";
import Database from "better-sqlite3";
import { type Message, toPi } from "../../src/domain/index.ts";
import type { Varve } from "../../src/index.ts";

export interface RecordComparison {
  sessions: number;
  messages: number;
  missing: string[];
  doubled: string[];
  changed: string[];
  /** Messages that are stored in another order. */
  disordered: string[];
}

interface HostEvent {
  type: string;
  id: string;
  parentId?: string | null;
  /** Whether OpenClaw left the message behind: after a kill it continues from before an unanswered request. */
  isLeft?: boolean;
  message?: { role: string; excludeFromContext?: boolean };
}

/** The messages of each session of an agent, in the order they were written. */
export function readHostMessages(databaseFile: string): Map<string, HostEvent[]> {
  const db = new Database(databaseFile, { readonly: true });
  try {
    const rows = db
      .prepare("select session_id, event_json, event_zstd from transcript_events order by session_id, seq")
      .all() as { session_id: string; event_json: string | null; event_zstd: Buffer | null }[];
    const sessions = new Map<string, HostEvent[]>();
    for (const { session_id: id, event_json: json, event_zstd: zstd } of rows) {
      const event = JSON.parse(json ?? zstdDecompressSync(zstd ?? Buffer.alloc(0)).toString()) as HostEvent;
      sessions.set(id, [...(sessions.get(id) ?? []), event]);
    }
    return new Map([...sessions].map(([id, events]) => [id, selectMessages(events)]));
  } finally {
    db.close();
  }
}

function selectMessages(events: readonly HostEvent[]): HostEvent[] {
  const byId = new Map(events.map((event) => [event.id, event]));
  const path = new Set<string>();
  for (let at = events.at(-1); at !== undefined; at = byId.get(at.parentId ?? "")) path.add(at.id);
  return events
    .filter((event) => event.type === "message" && event.message?.excludeFromContext !== true)
    .map((event) => (path.has(event.id) ? event : { ...event, isLeft: true }));
}

/** Every message of OpenClaw must be in Varve once, with the same content, in the same order. */
export async function compareRecords(varve: Varve, databaseFile: string): Promise<RecordComparison> {
  const result: RecordComparison = { sessions: 0, messages: 0, missing: [], doubled: [], changed: [], disordered: [] };
  for (const [sessionId, events] of readHostMessages(databaseFile)) {
    result.sessions += 1;
    result.messages += events.length;
    const stored = await readStored(varve, sessionId);
    const ids = stored.map(({ id }) => id);
    const wanted = events.filter(({ isLeft }) => !isLeft).map(({ id }) => id);
    for (const { id, message, isLeft } of events) {
      const found = isLeft ? await readLeft(varve, sessionId, id) : stored.filter((one) => one.id === id);
      if (found.length === 0) result.missing.push(`${sessionId} ${id}`);
      if (found.length > 1) result.doubled.push(`${sessionId} ${id}`);
      const [written] = found[0] ? toPi(found[0].message) : [];
      if (written !== undefined && !isDeepStrictEqual(written, message)) result.changed.push(`${sessionId} ${id}`);
    }
    if (!isDeepStrictEqual(ids, wanted) && result.missing.length === 0) result.disordered.push(sessionId);
    for (const id of ids) if (!wanted.includes(id)) result.doubled.push(`${sessionId} ${id} is not in OpenClaw`);
  }
  return result;
}

/** A message on a branch that is not continued. */
async function readLeft(varve: Varve, sessionId: string, id: string): Promise<{ id: string; message: Message }[]> {
  const session = await varve.sessions.get(sessionId, "main");
  const entry = await varve.transcripts.entry(session, id).catch(() => undefined);
  return entry?.type === "message" ? [{ id, message: entry.message }] : [];
}

async function readStored(varve: Varve, sessionId: string): Promise<{ id: string; message: Message }[]> {
  const session = await varve.sessions.get(sessionId, "main");
  const stored: { id: string; message: Message }[] = [];
  for await (const page of varve.transcripts.walk(session)) {
    for (const entry of page) if (entry.type === "message") stored.push({ id: entry.id, message: entry.message });
  }
  return stored;
}

import { type EntryDraft, entryTypes, isJsonObject, type JsonObject, roles } from "../../domain/index.ts";
import type { ImportedSession, ReaderEvent } from "./reader.ts";
import { BadRecordError, omitFields, readId, readObject, readText } from "./record.ts";
import { parseTime } from "./record-defaults.ts";

/** The first line of a Varve export. */
export function readVarveHeader(header: JsonObject): ImportedSession {
  const sessionId = readId(header.sessionId, "sessionId");
  if (sessionId === undefined) throw new BadRecordError("the header has no sessionId");
  if (header.version !== 1)
    throw new BadRecordError(`the export's version is ${JSON.stringify(header.version ?? null)}, not 1`);
  const startedAt = typeof header.startedAt === "number" ? header.startedAt : parseTime(header.startedAt);
  const title = readText(header, "title");
  const cwd = readText(header, "cwd");
  const parent = readText(header, "parentSessionId");
  return {
    sessionId,
    channel: readText(header, "channel") ?? "jsonl",
    ...(parent === undefined ? {} : { parentSessionId: parent }),
    ...(cwd === undefined ? {} : { cwd }),
    ...(title === undefined ? {} : { title }),
    ...(startedAt === undefined ? {} : { startedAt }),
    ...(typeof header.head === "string" ? { head: header.head } : {}),
    meta: {
      ...readObject(header, "meta"),
      varve: { key: header.key ?? null, agent: header.agent ?? null, current: sessionId },
    },
  };
}

/** Every other line is an entry; numbers that belong to the exporting store are dropped. */
export function readVarveEntry(header: ImportedSession, record: JsonObject): ReaderEvent[] {
  const draft = omitFields(record, ["seq", "sessionId", "tokens"]);
  if (!isEntry(draft)) throw new BadRecordError("it is not an entry");
  // A conversation outlives its session ids: an entry may belong to an earlier one than the header's.
  const sessionId = readId(record.sessionId, "sessionId") ?? header.sessionId;
  const entry: ReaderEvent = { kind: "entry", sessionId, entry: draft };
  if (sessionId === header.sessionId) return [entry];
  const { head: _head, title: _title, ...rest } = header;
  return [{ kind: "session", session: { ...rest, sessionId } }, entry];
}

function isEntry(draft: unknown): draft is EntryDraft & { id: string; time: number } {
  if (!isJsonObject(draft)) return false;
  if (readId(draft.id, "id") === undefined) throw new BadRecordError("the entry has no id");
  readId(draft.parentId, "parentId");
  if (typeof draft.time !== "number") throw new BadRecordError("the entry has no time");
  if (draft.extra !== undefined && !isJsonObject(draft.extra))
    throw new BadRecordError("the entry's extra is not an object");
  if (draft.trust !== undefined && draft.trust !== "untrusted")
    throw new BadRecordError(`the entry's trust is ${JSON.stringify(draft.trust)}, not untrusted`);
  const type = entryTypes.find((known) => known === draft.type);
  if (type === undefined) throw new BadRecordError(`there is no entry type ${JSON.stringify(draft.type ?? null)}`);
  const missing = requiredFields[type].find((key) => !hasField(draft, key));
  if (missing !== undefined) throw new BadRecordError(`the ${type} entry's ${missing} is missing or of the wrong type`);
  return true;
}

/** The required fields of each entry type. */
const requiredFields: Record<(typeof entryTypes)[number], string[]> = {
  session: [],
  message: ["message"],
  custom_message: ["customType", "message"],
  custom: ["customType", "data"],
  compaction: ["summary"],
  branch_summary: ["summary"],
  reset: ["mode", "reason", "fromSessionId", "toSessionId"],
  model_change: ["model"],
  label: ["targetId", "label"],
};

function hasField(draft: JsonObject, key: string): boolean {
  const value = draft[key];
  if (key === "data") return value !== undefined;
  if (key === "label") return value === null || typeof value === "string";
  if (key !== "message") return typeof value === "string";
  if (!isJsonObject(value) || !roles.some((role) => role === value.role)) return false;
  return typeof value.content === "string" || (Array.isArray(value.content) && value.content.every(isPart));
}

function isPart(part: unknown): boolean {
  return isJsonObject(part) && typeof part.type === "string";
}

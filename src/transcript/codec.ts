import {
  type Clock,
  type Entry,
  type EntryBody,
  type EntryDraft,
  type EntryType,
  type JsonObject,
  type Message,
  newId,
  type Random,
  type Role,
  roles,
  VarveError,
} from "../domain/index.ts";
import { type EntryRow, indexWords } from "../store/index.ts";
import { estimateMessageTokens, estimateTokens } from "../tokens/index.ts";
import { checkDraft } from "./check.ts";
import { type Aside, moveAside } from "./large-content/move-aside.ts";
import { headsOfMoved, referMoved } from "./large-content/moved.ts";
import { type FileHead, fileReference } from "./large-content/reference.ts";
import { getEntryText } from "./text.ts";

export interface Sources {
  clock: Clock;
  random: Random;
  /** Text above this many tokens is stored beside its entry; everything stays inside when absent. */
  largeContentTokens?: number;
}

/** A message's kind is its role; everything else is named by its type. The two sets of names do not meet. */
const roleNames = new Set<string>(roles);

export function encodeEntry(draft: EntryDraft, sources: Sources): EntryRow {
  checkDraft(draft);
  const id =
    draft.id ?? (draft.type === "message" ? draft.message.id : undefined) ?? newId(sources.clock, sources.random);
  const time = draft.time ?? ("message" in draft ? draft.message.time : undefined) ?? sources.clock.now();
  const isMessage = draft.type === "message";
  const kind = isMessage ? draft.message.role : draft.type;
  const payload = payloadOf(draft);
  const text = jsonOf(payload);
  const limit = sources.largeContentTokens;
  // No script needs more than two tokens a character, so what is shorter than half the limit cannot be above it.
  const aside = limit === undefined || text.length * 2 <= limit ? undefined : moveAside(payload, limit);
  return {
    id,
    parentId: draft.parentId,
    kind,
    time: Math.trunc(time),
    tokens: aside ? tokensOf(referenceBody(kind, aside)) : tokensOf(draft),
    payload: aside ? jsonOf(aside.payload) : text,
    words: indexWords(getEntryText(draft)),
    countsAsMessage: isMessage,
    ...(aside ? { files: aside.files } : {}),
  };
}

/** The entry as a model will see it, with references in the place of what was moved aside. */
function referenceBody(kind: string, { payload, files }: Aside): EntryBody {
  const heads = new Map(files.map((file) => [file.id, file]));
  return parseBody(
    kind,
    referMoved(structuredClone(payload), (id) => referenceTo(id, heads)),
  );
}

export function referenceTo(id: string, heads: ReadonlyMap<string, FileHead>): string {
  const head = heads.get(id);
  return head ? fileReference(head) : `[Large content ${id} is missing from the store.]`;
}

function tokensOf(draft: EntryBody): number {
  if ("message" in draft) return estimateMessageTokens(draft.message);
  return "summary" in draft ? estimateTokens(draft.summary) : 0;
}

/** The entry without what the row's own columns say. */
function payloadOf(draft: EntryDraft): JsonObject {
  const { id: _id, parentId: _parent, time: _time, type, ...rest } = draft;
  if (type !== "message") return rest as unknown as JsonObject;
  const { message, ...beside } = rest as { message: Message; extra?: JsonObject };
  const { id: _messageId, role: _role, time: _messageTime, ...said } = message;
  return { ...said, ...beside } as unknown as JsonObject;
}

function jsonOf(payload: JsonObject): string {
  try {
    return JSON.stringify(payload);
  } catch (error) {
    throw new VarveError(
      "BAD_MESSAGE",
      `The entry cannot be written as JSON: ${error instanceof Error ? error.message : error}.`,
      {
        remedy: "Send plain JSON values: no cycles, no BigInt, no functions.",
        cause: error,
      },
    );
  }
}

/** The columns an entry is read back from. */
export interface StoredEntry {
  seq: number;
  id: string;
  kind: string;
  time: number;
  tokens: number;
  payload: string;
}

/** `payload` is the row's own, parsed, with what was moved aside put back or referred to. */
export function decodeEntry(row: StoredEntry, payload: JsonObject, parentId: string | null, sessionId: string): Entry {
  const base = { id: row.id, parentId, time: row.time, seq: row.seq, sessionId, tokens: row.tokens };
  if (!roleNames.has(row.kind)) return { type: row.kind as EntryType, ...payload, ...base } as Entry;
  const { extra, ...said } = payload;
  const message = { id: row.id, role: row.kind as Role, ...said, time: row.time } as unknown as Message;
  return { type: "message", message, ...(extra === undefined ? {} : { extra: extra as JsonObject }), ...base };
}

export function parseBody(kind: string, payload: JsonObject): EntryBody {
  return decodeEntry({ seq: 0, id: "", kind, time: 0, tokens: 0, payload: "" }, payload, null, "");
}

/** The body of a row alone, without another look into the store: of what was moved aside, only the beginning. */
export function decodeBody(kind: string, payload: string): EntryBody {
  return parseBody(kind, headsOfMoved(parsePayload({ seq: 0, payload })));
}

export function parsePayload(row: Pick<StoredEntry, "seq" | "payload">): JsonObject {
  try {
    return JSON.parse(row.payload) as JsonObject;
  } catch (error) {
    throw new VarveError("STORE_CORRUPT", `Entry msg#${row.seq} cannot be read: its stored form is damaged.`, {
      remedy: "Run `varve doctor`; a backup may hold it whole (`varve restore FILE`).",
      cause: error,
    });
  }
}

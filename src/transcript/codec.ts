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
import { textOfEntry } from "./text.ts";

export interface Sources {
  clock: Clock;
  random: Random;
}

/** A message's kind is its role; everything else is named by its type. The two sets of names do not meet. */
const roleNames = new Set<string>(roles);

export function encodeEntry(draft: EntryDraft, sources: Sources): EntryRow {
  checkDraft(draft);
  const id =
    draft.id ?? (draft.type === "message" ? draft.message.id : undefined) ?? newId(sources.clock, sources.random);
  const time = draft.time ?? ("message" in draft ? draft.message.time : undefined) ?? sources.clock.now();
  const isMessage = draft.type === "message";
  return {
    id,
    parentId: draft.parentId,
    kind: isMessage ? draft.message.role : draft.type,
    time: Math.trunc(time),
    tokens: tokensOf(draft),
    payload: payloadOf(draft),
    words: indexWords(textOfEntry(draft)),
    countsAsMessage: isMessage,
  };
}

function tokensOf(draft: EntryDraft): number {
  if ("message" in draft) return estimateMessageTokens(draft.message);
  return "summary" in draft ? estimateTokens(draft.summary) : 0;
}

/** The entry without what the row's own columns say. */
function payloadOf(draft: EntryDraft): string {
  const { id: _id, parentId: _parent, time: _time, type, ...rest } = draft;
  try {
    if (type !== "message") return JSON.stringify(rest);
    const { message, ...beside } = rest as { message: Message; extra?: JsonObject };
    const { id: _messageId, role: _role, time: _messageTime, ...said } = message;
    return JSON.stringify({ ...said, ...beside });
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

export function decodeEntry(row: StoredEntry, parentId: string | null, sessionId: string): Entry {
  const base = { id: row.id, parentId, time: row.time, seq: row.seq, sessionId, tokens: row.tokens };
  const payload = parsePayload(row);
  if (!roleNames.has(row.kind)) return { type: row.kind as EntryType, ...payload, ...base } as Entry;
  const { extra, ...said } = payload;
  const message = { id: row.id, role: row.kind as Role, ...said, time: row.time } as unknown as Message;
  return { type: "message", message, ...(extra === undefined ? {} : { extra: extra as JsonObject }), ...base };
}

export function decodeBody(kind: string, payload: string): EntryBody {
  return decodeEntry({ seq: 0, id: "", kind, time: 0, tokens: 0, payload }, null, "");
}

function parsePayload(row: StoredEntry): JsonObject {
  try {
    return JSON.parse(row.payload) as JsonObject;
  } catch (error) {
    throw new VarveError("STORE_CORRUPT", `Entry msg#${row.seq} cannot be read: its stored form is damaged.`, {
      remedy: "Run `varve doctor`; a backup may hold it whole (`varve restore FILE`).",
      cause: error,
    });
  }
}

import {
  type Clock,
  type Entry,
  type EntryBody,
  type EntryDraft,
  type EntryTrust,
  type EntryType,
  entryTypes,
  isJsonObject,
  type JsonObject,
  type Message,
  newId,
  type Random,
  type Role,
  roles,
  VarveError,
} from "../domain/index.ts";
import {
  type EntryRow,
  indexWords,
  type LogRow,
  type SecretCapture,
  type SecretRow,
  type Store,
} from "../store/index.ts";
import { estimateMessageTokens, estimateTokens } from "../text/index.ts";
import { captureSecrets } from "./capture-secrets.ts";
import { getEntryText } from "./entry-text.ts";
import { type ExtractedContent, extractLargeContent } from "./large-content/extract.ts";
import {
  listExtracted,
  listExtractedFiles,
  replaceByHeads,
  replaceByReferences,
  restoreExtracted,
} from "./large-content/extracted-text.ts";
import { type FileMetadata, formatFileReference, readFileContents, readFileMetadata } from "./large-content/files.ts";

export interface EncodeOptions {
  clock: Clock;
  random: Random;
  /** Text above this many tokens is extracted into a file; absent, everything stays in its entry. */
  largeContentTokens?: number;
  /** How credentials are taken out; absent, they stay. */
  capture?: SecretCapture;
}

/** The kind of a message is its role, that of any other entry its type. The two sets of names are disjoint. */
const roleNames = new Set<string>(roles);

export function encodeEntry(given: EntryDraft, options: EncodeOptions): EntryRow {
  checkDraft(given);
  const { draft, secrets } = takeSecrets(given, options.capture);
  const id =
    draft.id ?? (draft.type === "message" ? draft.message.id : undefined) ?? newId(options.clock, options.random);
  const time = draft.time ?? ("message" in draft ? draft.message.time : undefined) ?? options.clock.now();
  const isMessage = draft.type === "message";
  const kind = isMessage ? draft.message.role : draft.type;
  const payload = toPayload(draft);
  const text = stringifyPayload(payload);
  const limit = options.largeContentTokens;
  // No script needs more than two tokens per character, so a payload shorter than half the limit cannot exceed it.
  const aside = limit === undefined || text.length * 2 <= limit ? undefined : extractLargeContent(payload, limit);
  return {
    id,
    parentId: draft.parentId,
    kind,
    time: Math.trunc(time),
    tokens: aside ? countTokens(toReferenceBody(kind, aside)) : countTokens(draft),
    payload: aside ? stringifyPayload(aside.payload) : text,
    words: indexWords(getEntryText(draft)),
    countsAsMessage: isMessage,
    ...(aside ? { files: aside.files } : {}),
    ...(secrets.length > 0 ? { secrets } : {}),
  };
}

/** The draft without credentials; its ids stay as they are. */
function takeSecrets(
  given: EntryDraft,
  capture: SecretCapture | undefined,
): { draft: EntryDraft; secrets: SecretRow[] } {
  if (!capture) return { draft: given, secrets: [] };
  const { value, secrets } = captureSecrets(given as unknown as JsonObject, capture);
  const { id, parentId, type } = given;
  const draft = { ...value, id, parentId, type } as unknown as EntryDraft;
  if (draft.type === "message" && given.type === "message") draft.message.id = given.message.id;
  return { draft, secrets };
}

/** The entry as a model will see it, with references in place of extracted content. */
function toReferenceBody(kind: string, { payload, files }: ExtractedContent): EntryBody {
  const filesById = new Map(files.map((file) => [file.id, file]));
  return parseBody(
    kind,
    replaceByReferences(structuredClone(payload), (id) => formatReference(id, filesById)),
  );
}

function formatReference(id: string, heads: ReadonlyMap<string, FileMetadata>): string {
  const head = heads.get(id);
  return head ? formatFileReference(head) : `[Large content ${id} is missing from the store.]`;
}

function countTokens(draft: EntryBody): number {
  if ("message" in draft) return estimateMessageTokens(draft.message);
  return "summary" in draft ? estimateTokens(draft.summary) : 0;
}

/** The fields of an entry that have no column of their own. */
function toPayload(draft: EntryDraft): JsonObject {
  const { id: _id, parentId: _parent, time: _time, type, ...rest } = draft;
  if (type !== "message") return rest as unknown as JsonObject;
  const { message, ...others } = rest as Pick<EntryDraft, "extra" | "trust"> & { message: Message };
  const { id: _messageId, role: _role, time: _messageTime, ...content } = message;
  return { ...content, ...others } as unknown as JsonObject;
}

function stringifyPayload(payload: JsonObject): string {
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

/** The columns needed to decode an entry. */
export interface StoredEntry {
  seq: number;
  id: string;
  kind: string;
  time: number;
  tokens: number;
  payload: string;
}

/** `payload` is the parsed payload of the row, with extracted content restored or replaced by references. */
export function decodeEntry(row: StoredEntry, payload: JsonObject, parentId: string | null, sessionId: string): Entry {
  const base = { id: row.id, parentId, time: row.time, seq: row.seq, sessionId, tokens: row.tokens };
  if (!roleNames.has(row.kind)) return { type: row.kind as EntryType, ...payload, ...base } as Entry;
  const { extra, trust, ...content } = payload;
  const message = { id: row.id, role: row.kind as Role, ...content, time: row.time } as unknown as Message;
  return {
    type: "message",
    message,
    ...(extra === undefined ? {} : { extra: extra as JsonObject }),
    ...(trust === undefined ? {} : { trust: trust as EntryTrust }),
    ...base,
  };
}

export function parseBody(kind: string, payload: JsonObject): EntryBody {
  return decodeEntry({ seq: 0, id: "", kind, time: 0, tokens: 0, payload: "" }, payload, null, "");
}

/** Decodes a row without reading files: extracted content is represented by its beginning only. */
export function decodeBody(kind: string, payload: string): EntryBody {
  return parseBody(kind, replaceByHeads(parsePayload({ seq: 0, payload })));
}

/** Decodes a row without reading files; undefined when some of its content was extracted into files. */
export function decodeWholeBody(row: Pick<StoredEntry, "seq" | "kind" | "payload">): EntryBody | undefined {
  const payload = parsePayload(row);
  return listExtracted(payload).length === 0 ? parseBody(row.kind, payload) : undefined;
}

function parsePayload(row: Pick<StoredEntry, "seq" | "payload">): JsonObject {
  try {
    return JSON.parse(row.payload) as JsonObject;
  } catch (error) {
    throw new VarveError("STORE_CORRUPT", `Entry msg#${row.seq} cannot be read: its stored form is damaged.`, {
      remedy: "Run `varve doctor`. A backup may contain the entry intact: `varve restore FILE`.",
      cause: error,
    });
  }
}

/** Whether large content is returned in full, or as the reference that a model sees. */
export type ContentForm = "original" | "reference";

/** Parses payloads and restores extracted content, or replaces it by references. */
export async function readPayloads(
  store: Pick<Store, "db">,
  agent: string,
  rows: readonly Pick<StoredEntry, "seq" | "payload">[],
  form: ContentForm,
): Promise<JsonObject[]> {
  const payloads = rows.map(parsePayload);
  const ids = [...new Set(payloads.flatMap((payload) => listExtractedFiles(listExtracted(payload))))];
  if (ids.length === 0) return payloads;
  if (form === "reference") {
    const heads = await readFileMetadata(store.db, agent, ids);
    return payloads.map((payload) => replaceByReferences(payload, (id) => formatReference(id, heads)));
  }
  const contents = await readFileContents(store.db, agent, ids);
  return payloads.map((payload) => restoreExtracted(payload, (id) => contents.get(id) ?? throwMissingContent(id)));
}

function throwMissingContent(id: string): never {
  throw new VarveError("STORE_CORRUPT", `The content of ${id} is missing from the store.`, {
    remedy: "Run `varve doctor`. A backup may contain it: `varve restore FILE`.",
  });
}

/** Computes the text to index for log rows, including extracted content. */
export async function indexWordsForRows(store: Pick<Store, "db">, rows: LogRow[]): Promise<string[]> {
  const words: string[] = [];
  for (const { agent, kind, payload } of rows) {
    const [whole] = await readPayloads(store, agent, [{ seq: 0, payload }], "original");
    words.push(whole ? indexWords(getEntryText(parseBody(kind, whole))) : "");
  }
  return words;
}

const partFields: Record<string, Record<string, "string" | "array" | "object" | "any">> = {
  text: { text: "string" },
  reasoning: { text: "string" },
  tool_call: { callId: "string", name: "string", input: "any" },
  tool_result: { callId: "string", output: "any" },
  file: { source: "object" },
  image: { source: "object" },
  patch: { hash: "string", files: "array" },
  subtask: { prompt: "string" },
  agent: { name: "string" },
  step_start: {},
  step_finish: {},
  snapshot: { snapshot: "string" },
  compaction: {},
  retry: { attempt: "any", error: "any" },
  opaque: { raw: "object" },
};

const idLengthMax = 512;

function badMessageError(what: string, remedy: string): VarveError {
  return new VarveError("BAD_MESSAGE", what, { remedy });
}

/** Rejects a draft that could not be read back unchanged. The error names the place and the reason. */
function checkDraft(draft: EntryDraft): void {
  if (!isJsonObject(draft as unknown)) throw badMessageError("An entry must be an object.", "Send {type, …}.");
  if (!entryTypes.includes(draft.type)) {
    throw badMessageError(
      `An entry cannot have the type ${JSON.stringify(draft.type)}.`,
      `Use one of ${entryTypes.join(", ")}.`,
    );
  }
  checkId("id", draft.id);
  checkId("parentId", draft.parentId);
  checkTime(draft.time);
  if (draft.type === "message" || draft.type === "custom_message") checkMessage(draft.message);
}

function checkId(name: string, id: unknown): void {
  if (id === undefined || id === null) return;
  if (typeof id !== "string" || id === "" || id.length > idLengthMax || id.includes("\u0000") || !id.isWellFormed()) {
    throw badMessageError(
      `The ${name} ${JSON.stringify(id)?.slice(0, 80)} is not valid.`,
      `Send a string of 1 to ${idLengthMax} characters without NUL.`,
    );
  }
}

function checkTime(time: unknown): void {
  if (time === undefined) return;
  if (typeof time !== "number" || !Number.isFinite(time) || Math.abs(time) > 8.64e15) {
    throw badMessageError(
      `The time ${JSON.stringify(time)} is not a number of milliseconds since 1970.`,
      "Send for example Date.now().",
    );
  }
}

function checkMessage(message: unknown): void {
  if (!isJsonObject(message))
    throw badMessageError("A message must be an object.", 'Send {role: "user", content: "…"}.');
  if (!roles.includes(message.role as never)) {
    throw badMessageError(
      `A message cannot have the role ${JSON.stringify(message.role)}.`,
      `Use one of ${roles.join(", ")}.`,
    );
  }
  checkId("id", message.id);
  checkTime(message.time);
  if (typeof message.content === "string") return;
  if (!Array.isArray(message.content)) {
    throw badMessageError(
      "A message's content must be a string or a list of parts.",
      'Send for example [{type: "text", text: "…"}].',
    );
  }
  for (const [index, part] of message.content.entries()) checkPart(part, `content[${index}]`);
}

function checkPart(part: unknown, place: string): void {
  if (!isJsonObject(part))
    throw badMessageError(`${place} is not a part.`, 'Send for example {type: "text", text: "…"}.');
  const fields = partFields[part.type as string];
  if (!fields) {
    throw badMessageError(
      `${place} has the unknown type ${JSON.stringify(part.type)}.`,
      `Use one of ${Object.keys(partFields).join(", ")}.`,
    );
  }
  for (const [name, kind] of Object.entries(fields)) checkField(part, name, kind, place);
  if (part.type === "tool_result" && Array.isArray(part.output)) {
    for (const [index, inner] of part.output.entries()) checkPart(inner, `${place}.output[${index}]`);
  }
}

function checkField(part: JsonObject, name: string, kind: string, place: string): void {
  const value = part[name] as unknown;
  const fits =
    kind === "any"
      ? value !== undefined
      : kind === "array"
        ? Array.isArray(value)
        : kind === "object"
          ? isJsonObject(value)
          : typeof value === kind;
  if (!fits)
    throw badMessageError(
      `${place} (${part.type}) needs ${name}${kind === "any" ? "" : ` as ${kind}`}.`,
      "Add the field and send the message again.",
    );
}

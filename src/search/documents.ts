import { LRUCache } from "lru-cache";
import { isOfAgent, type PlacedEntry, type Store } from "../store/index.ts";
import { decodeBody, getEntryText } from "../transcript/index.ts";
import { countTerms, isCountable } from "./text/count-terms.ts";
import { extractTerms } from "./text/words.ts";
import type { ResultKind } from "./types.ts";

/** A searchable text with the fields that the ranking uses. */
export interface Doc {
  /** The citation; unique among all documents. */
  key: string;
  kind: ResultKind;
  id: string;
  seq?: number;
  conversation: number | null;
  branch: number;
  time: number;
  role: string;
  /** In lower case; the role when a message has no name. */
  speaker: string;
  text: string;
  tokens: number;
  /** The average length of its kind, when it differs from that of messages. */
  averageTokens?: number;
  /** Its file name has a date: its score decays with age. */
  dated?: boolean;
  /** The frequency of each term; absent for ASCII texts, in which the query's terms are counted directly. */
  terms?: ReadonlyMap<string, number>;
}

/** A summary, file or chunk, with its vector when it has one. */
export interface CachedDoc {
  doc: Doc;
  vector?: Int8Array;
  states?: Int8Array;
  /** Computed when the model has not embedded it. */
  instant?: Float32Array;
}

const loadRows = 500;
/** The size limit of the cache in characters; a counted term adds `termWeight`. */
const cachedMax = 8_000_000;
const termWeight = 20;
/** Terms are counted for this long before control returns to the event loop. */
const sliceMs = 6;

/** Reads entries as documents and caches the latest: consecutive queries often find the same ones. */
export class DocumentReader {
  private readonly store: Store;
  private readonly cache = new Map<number, Doc>();
  private cached = 0;

  constructor(store: Store) {
    this.store = store;
  }

  /** The documents of some entries, in their order. Deleted entries are left out. */
  async read(agent: string, placed: readonly PlacedEntry[]): Promise<Doc[]> {
    const missing = placed.filter((entry) => !this.cache.has(entry.seq));
    const fresh = new Map<number, Doc>();
    let turn = performance.now();
    for (let start = 0; start < missing.length; start += loadRows) {
      const part = missing.slice(start, start + loadRows);
      const rows = await this.store.db
        .selectFrom("entries")
        .select(["seq", "id", "kind", "payload"])
        .where(
          "seq",
          "in",
          part.map((entry) => entry.seq),
        )
        .where(isOfAgent(this.store, agent))
        .execute();
      const bySeq = new Map(rows.map((row) => [row.seq, row]));
      for (const entry of part) {
        const row = bySeq.get(entry.seq);
        if (row) fresh.set(entry.seq, toDoc(entry, row.id, decodeEntryText(row.kind, row.payload)));
        if (performance.now() - turn > sliceMs) {
          await new Promise((resolve) => setImmediate(resolve));
          turn = performance.now();
        }
      }
    }
    const found = placed.flatMap((entry) => fresh.get(entry.seq) ?? this.cache.get(entry.seq) ?? []);
    this.addToCache(fresh);
    return found;
  }

  /** Evicts in one pass: a Map iterator that is restarted after each removal skips all removed slots again. */
  private addToCache(fresh: ReadonlyMap<number, Doc>): void {
    for (const [seq, doc] of fresh) {
      this.cache.set(seq, doc);
      this.cached += measureDoc(doc);
    }
    for (const [oldest, old] of this.cache) {
      if (this.cached <= cachedMax) break;
      this.cache.delete(oldest);
      this.cached -= measureDoc(old);
    }
  }
}

function toDoc(entry: PlacedEntry, id: string, { text, name }: EntryText): Doc {
  const speaker = (name ?? entry.kind).toLowerCase();
  return {
    key: `msg#${entry.seq}`,
    kind: "message",
    id,
    seq: entry.seq,
    conversation: entry.conversation,
    branch: entry.branch,
    time: entry.time,
    role: entry.kind,
    speaker,
    text,
    tokens: entry.tokens,
    ...(isCountable(text) ? {} : { terms: countTerms(text, name ?? "") }),
  };
}

interface EntryText {
  text: string;
  /** The name of the speaker, when the message has one. */
  name?: string;
}

/** The searchable text of an entry. */
export function decodeEntryText(kind: string, payload: string): EntryText {
  const body = decodeBody(kind, payload);
  const name = "message" in body ? body.message.name : undefined;
  return { text: getEntryText(body), ...(name === undefined ? {} : { name }) };
}

/** The memory that all agents' summaries and files, and all their chunks, may take; the least recently used go. */
const cachedBytesMax = 64 * 2 ** 20;
const termBytes = 100;

/** A cache of documents by agent. One agent stays even when it is larger than the limit: it is being searched. */
export function createDocumentLru<Cached extends { docs: ReadonlyMap<string, CachedDoc> }>(
  bytesMax = cachedBytesMax,
): LRUCache<string, Cached> {
  return new LRUCache({
    maxSize: bytesMax,
    sizeCalculation: ({ docs }) => {
      let bytes = 1;
      for (const { doc, vector, states } of docs.values()) {
        bytes += 2 * doc.text.length + termBytes * (doc.terms?.size ?? 0);
        bytes += (vector?.byteLength ?? 0) + (states?.byteLength ?? 0);
      }
      return Math.min(bytesMax, bytes);
    },
  });
}

function measureDoc({ text, terms }: Doc): number {
  return text.length + termWeight * (terms?.size ?? 0);
}

const namesMax = 10_000;
const names = new Map<string, readonly string[]>();

/** Whether a term is part of the speaker's name. A role is not a name. */
export function isSpeakerName(doc: Doc, term: string): boolean {
  if (doc.speaker === doc.role) return false;
  let terms = names.get(doc.speaker);
  if (!terms) {
    terms = extractTerms(doc.speaker);
    if (names.size >= namesMax) names.clear();
    names.set(doc.speaker, terms);
  }
  return terms.includes(term);
}

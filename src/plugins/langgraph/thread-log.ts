import { LRUCache } from "lru-cache";
import type { JsonObject } from "../../domain/index.ts";
import { type EntryDraft, type Session, type Varve, VarveError } from "../../index.ts";
import { toDraft, toSerialised } from "./chat-messages.ts";
import {
  type FoundMessage,
  findMessages,
  listReferences,
  replaceMessages,
  restoreMessages,
  type StoredValue,
} from "./stored-values.ts";

/** Where the messages of a checkpoint belong. */
export interface LogPlace {
  /** Where new messages are appended. */
  session: Session;
  /** For a sub-graph: the session of its thread, whose messages are not stored again. */
  parent?: Session;
  /** The last entry at the checkpoint that is continued; null for none, undefined for the end of the log. */
  after?: string | null;
}

export interface StoredValues {
  values: StoredValue[];
  /** The last entry after the new messages were appended; undefined when there were none. */
  head?: string;
}

const batchEntries = 1_000;
const tailEntries = 50;
const knownMax = 200_000;

/** Stores the messages of values as messages of a session, each once, and reads them back. */
export class ThreadLog {
  readonly #varve: Varve;
  /** The numbers of entries by conversation and id. */
  readonly #known = new LRUCache<string, number>({ max: knownMax });

  constructor(varve: Varve) {
    this.#varve = varve;
  }

  /** Appends the messages of values that the log does not have yet; durable when it returns. */
  async store(values: readonly StoredValue[], place: LogPlace): Promise<StoredValues> {
    const found = values.map(findMessages);
    const messages = new Map(found.flatMap((one) => one ?? []).map((message) => [message.id, message]));
    if (messages.size === 0) return { values: [...values] };
    const seqs = await this.#find([...messages.keys()], place);
    const added = [...messages.values()].filter(({ id }) => !seqs.has(id));
    if (added.length > 0) await this.#append(added, place, seqs);
    const replaced = values.map((value, index) => {
      const own = found[index];
      if (own === undefined) return value;
      return replaceMessages(
        value,
        own,
        own.map(({ id }) => seqs.get(id) ?? 0),
      );
    });
    const head = added.at(-1)?.id;
    return { values: replaced, ...(head === undefined ? {} : { head }) };
  }

  /** The values as LangGraph serialised them. */
  async load(values: readonly StoredValue[], { session, parent }: LogPlace): Promise<StoredValue[]> {
    const seqs = [...new Set(values.flatMap(listReferences))];
    if (seqs.length === 0) return [...values];
    const messages = new Map<number, JsonObject>();
    for (const place of [session, ...(parent ? [parent] : [])]) {
      for (const entry of await this.#varve.transcripts.entries(place, seqs)) {
        const serialised = entry.type === "message" ? toSerialised(entry) : undefined;
        if (serialised) messages.set(entry.seq, serialised);
      }
    }
    return values.map((value) =>
      restoreMessages(value, (seq) => {
        const message = messages.get(seq);
        if (message) return message;
        throw new VarveError("STORE_CORRUPT", `The message msg#${seq} of a LangGraph checkpoint is missing.`, {
          remedy: "Run `varve doctor`. Erased messages and those past their retention period cannot be resumed from.",
        });
      }),
    );
  }

  async #find(ids: readonly string[], { session, parent }: LogPlace): Promise<Map<string, number>> {
    const seqs = new Map<string, number>();
    for (const place of [...(parent ? [parent] : []), session]) {
      const wanted: string[] = [];
      for (const id of ids) {
        const known = this.#known.get(toCacheKey(place, id));
        if (known !== undefined) seqs.set(id, known);
        else if (!seqs.has(id)) wanted.push(id);
      }
      for (const [id, seq] of await this.#varve.transcripts.findSeqs(place, wanted)) {
        seqs.set(id, seq);
        this.#known.set(toCacheKey(place, id), seq);
      }
    }
    return seqs;
  }

  async #append(added: readonly FoundMessage[], place: LogPlace, seqs: Map<string, number>): Promise<void> {
    const { session } = place;
    let after = await this.#findParent(place);
    for (let from = 0; from < added.length; from += batchEntries) {
      const drafts = added.slice(from, from + batchEntries).map(({ id, serialised }): EntryDraft => {
        const draft = { ...toDraft(serialised), id, ...(after === undefined ? {} : { parentId: after }) };
        if (after !== undefined) after = id;
        return draft;
      });
      const { entries } = await this.#varve.transcripts.append(session, drafts);
      for (const { id, seq } of entries) {
        seqs.set(id, seq);
        this.#known.set(toCacheKey(session, id), seq);
      }
    }
  }

  /** Undefined when the last message of the log is the one to continue; then entries of other kinds may follow it. */
  async #findParent({ session, after }: LogPlace): Promise<string | null | undefined> {
    if (after === undefined) return undefined;
    const { entries } = await this.#varve.transcripts.read(session, { limit: tailEntries, content: "reference" });
    const last = entries.findLast((entry) => entry.type === "message")?.id ?? null;
    return last === after ? undefined : after;
  }
}

function toCacheKey({ conversation }: Session, id: string): string {
  return `${conversation} ${id}`;
}

import { createHash } from "node:crypto";
import { type JsonValue, type Message, VarveError } from "../../domain/index.ts";
import type { Session, Varve } from "../../index.ts";
import type { HostFormat } from "./host-format.ts";

/**
 * `all`: the host sends the whole conversation each time, as chat pages and agents do. `new`: it sends only what is new
 * since the last reply, and the session has the rest.
 */
export type SentHistory = "all" | "new";

const idLength = 32;
/** The messages of one append, which holds the store's write lock. */
const batchMessages = 1_000;
const tailEntries = 50;

/**
 * Writes the messages that a host sends to a session, each once. The id of a message covers everything before it, so that
 * a repeated history is recognised, and an edited one continues on a branch of its own.
 */
export class HistoryRecorder<T> {
  readonly #varve: Varve;
  readonly #session: Session;
  readonly #format: HostFormat<T>;
  readonly #sent: SentHistory;
  /** Ids that are known to be in the transcript. */
  readonly #stored = new Set<string>();
  /** With `new`: the ids of the last call and its reply, and what they start from. */
  #last: { start: string; ids: readonly string[] } | undefined;
  #queue: Promise<unknown> = Promise.resolve();

  constructor(varve: Varve, session: Session, format: HostFormat<T>, sent: SentHistory) {
    this.#varve = varve;
    this.#session = session;
    this.#format = format;
    this.#sent = sent;
  }

  /** Writes what the transcript does not have yet; returns the ids of all messages. */
  record(messages: readonly T[], facts: Partial<Message> = {}): Promise<readonly string[]> {
    const run = this.#queue.then(() => this.#record(messages, facts));
    this.#queue = run.catch(() => undefined);
    return run;
  }

  async #record(messages: readonly T[], facts: Partial<Message>): Promise<readonly string[]> {
    const head = await this.#readHead();
    const ids = this.#identify(messages, head);
    const from = await this.#findNew(ids);
    for (let start = from; start < messages.length; start += batchMessages) {
      const batch = messages.slice(start, start + batchMessages).map((message, index): Message => {
        const isLast = start + index === messages.length - 1;
        return { ...this.#format.read(message), ...(isLast ? facts : {}), id: ids[start + index] };
      });
      const parent = ids[start - 1];
      // A history whose start is unknown continues the session; an edited one continues after its last known message.
      const continues = start > from || parent === undefined || parent === head;
      await this.#varve.context.ingest(this.#session, batch, continues ? {} : { after: parent });
    }
    for (const id of ids) this.#stored.add(id);
    const last = ids.at(-1);
    // The host went back: what follows belongs after this message.
    if (from === ids.length && last !== undefined && last !== head)
      await this.#varve.transcripts.moveHead(this.#session, last);
    this.#last = { start: this.#last?.start ?? "", ids };
    return ids;
  }

  #identify(messages: readonly T[], head: string): string[] {
    const chain = (start: string): string[] => {
      let previous = start;
      return messages.map((message) => {
        previous = chainId(previous, this.#format.identify(message));
        return previous;
      });
    };
    if (this.#sent === "all") return chain("");
    const continued = this.#last && chain(this.#last.start);
    // The next step of the same call repeats everything of the last one, with its reply.
    if (continued && this.#last?.ids.every((id, index) => continued[index] === id)) return continued;
    this.#last = { start: head, ids: [] };
    return chain(head);
  }

  /** Finds the first message that is not stored. An id covers everything before it, so a binary search is enough. */
  async #findNew(ids: readonly string[]): Promise<number> {
    const known = ids.findLastIndex((id) => this.#stored.has(id)) + 1;
    let [low, high] = [known, ids.length];
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      if (await this.#has(ids[middle] ?? "")) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  async #has(id: string): Promise<boolean> {
    try {
      await this.#varve.transcripts.entry(this.#session, id);
      return true;
    } catch (error) {
      if (error instanceof VarveError && error.code === "ENTRY_NOT_FOUND") return false;
      throw error;
    }
  }

  /** The id of the last message of the active branch; empty when there is none. */
  async #readHead(): Promise<string> {
    const { entries } = await this.#varve.transcripts.read(this.#session, { limit: tailEntries });
    return entries.findLast((entry) => entry.type === "message")?.id ?? "";
  }
}

function chainId(previous: string, identity: JsonValue): string {
  return createHash("sha256")
    .update(`${previous}\n${JSON.stringify(identity)}`)
    .digest("hex")
    .slice(0, idLength);
}

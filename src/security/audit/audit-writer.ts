import { VarveError } from "../../domain/index.ts";
import type { Store } from "../../store/index.ts";
import { type AuditEvent, type ChainLink, chainStart, cleanText, hashRow } from "./audit-record.ts";

interface PendingEvent {
  event: AuditEvent;
  time: number;
  durable: boolean;
  done: PromiseWithResolvers<void>;
}

const batchMax = 500;
const pendingMax = 10_000;
/** A head that is known for longer is read again: retention may have removed rows that another process wrote after it. */
const knownHeadMs = 60_000;
/** `head`: the last record. `anchor`: the last record that retention removed. */
export type LinkName = "head" | "anchor";

/**
 * Appends events to the chain. Events that arrive during a write are written together by the next one. What cannot be
 * written stays pending for the next attempt; when too much is pending, nothing more is accepted.
 */
export class AuditWriter {
  readonly #store: Store;
  readonly #process: string;
  readonly #pending: PendingEvent[] = [];
  #writing: Promise<void> | undefined;
  /** The head after the last write of this process. */
  #last: { link: ChainLink; time: number } | undefined;

  constructor(store: Store, process: string) {
    this.#store = store;
    this.#process = process;
  }

  get isFull(): boolean {
    return this.#pending.length >= pendingMax;
  }

  /** Resolves when the event is stored: with `durable` on disk, else safe from a crash of this process. */
  append(event: AuditEvent, durable: boolean): Promise<void> {
    if (this.isFull) return Promise.reject(createFullError());
    const done = Promise.withResolvers<void>();
    this.#pending.push({ event, time: this.#store.clock.now(), durable, done });
    this.#writing ??= this.#writePending();
    return done.promise;
  }

  /** Writes what is pending; rejects when that is not possible. */
  async flush(): Promise<void> {
    await this.#writing;
    if (this.#pending.length === 0) return;
    const last = this.#pending.at(-1)?.done.promise;
    this.#writing ??= this.#writePending();
    await this.#writing;
    if (this.#pending.length > 0) await last;
  }

  async #writePending(): Promise<void> {
    // Events of the same moment share a transaction.
    await Promise.resolve();
    while (this.#pending.length > 0) {
      const batch = this.#pending.slice(0, batchMax);
      try {
        await this.#write(batch);
      } catch (error) {
        for (const one of batch) one.done.reject(error);
        break;
      }
      this.#pending.splice(0, batch.length);
      for (const one of batch) one.done.resolve();
    }
    this.#writing = undefined;
  }

  /** Most writes continue their own last one and need one round trip; after another process wrote, the head is read. */
  async #write(batch: readonly PendingEvent[]): Promise<void> {
    const sync = batch.some((one) => one.durable);
    const known = this.#last;
    this.#last = undefined;
    const now = this.#store.clock.now();
    if (
      known !== undefined &&
      Math.abs(now - known.time) < knownHeadMs &&
      (await this.#writeAfter(known.link, batch, sync))
    )
      return;
    const link = await this.#store.transaction(
      async (tx) => {
        await tx.lock("audit");
        const { rows, link } = this.#chainAll(await readHead(tx.db), batch);
        await tx.db.insertInto("audit").values(rows).execute();
        await putLink(tx.db, "head", link).execute();
        return link;
      },
      { sync },
    );
    this.#last = { link, time: now };
  }

  /** Returns false when nothing was written. The number of a row is its key: after another process wrote, it exists. */
  async #writeAfter(known: ChainLink, batch: readonly PendingEvent[], sync: boolean): Promise<boolean> {
    const { db } = this.#store;
    const { rows, link } = this.#chainAll(known, batch);
    try {
      await this.#store.writeBatch([db.insertInto("audit").values(rows), putLink(db, "head", link)], { sync });
    } catch {
      // The caller tries again with the head that is stored, and reports a failure that remains.
      return false;
    }
    this.#last = { link, time: this.#store.clock.now() };
    return true;
  }

  #chainAll(head: ChainLink, batch: readonly PendingEvent[]) {
    let link = head;
    const rows = batch.map(({ event, time }) => {
      const { row, next } = this.#chain(event, time, link);
      link = next;
      return row;
    });
    return { rows, link };
  }

  #chain(event: AuditEvent, time: number, { num, hash }: ChainLink) {
    const targets = Object.entries(event.targets ?? {}).map(([kind, id]) => [kind, cleanText(id)]);
    const row = {
      num: num + 1,
      time,
      process: this.#process,
      principal: cleanText(event.principal),
      action: cleanText(event.action),
      targets: JSON.stringify(Object.fromEntries(targets)),
      status: cleanText(event.status),
    };
    const next = { num: row.num, hash: hashRow(hash, row) };
    return { row: { ...row, hash: next.hash }, next };
  }
}

/** The last link of the chain. The rows decide: the head that is stored next to them only shows that rows were removed. */
async function readHead(db: Store["db"]): Promise<ChainLink> {
  const last = await db.selectFrom("audit").select(["num", "hash"]).orderBy("num", "desc").limit(1).executeTakeFirst();
  return last ?? (await readLink(db, "head")) ?? chainStart;
}

export async function readLink(db: Store["db"], name: LinkName): Promise<ChainLink | undefined> {
  return db.selectFrom("audit_links").select(["num", "hash"]).where("name", "=", name).executeTakeFirst();
}

export function putLink(db: Store["db"], name: LinkName, link: ChainLink) {
  return db
    .insertInto("audit_links")
    .values({ name, ...link })
    .onConflict((conflict) => conflict.column("name").doUpdateSet(link));
}

function createFullError(): VarveError {
  return new VarveError("STORE_BUSY", `${pendingMax} records of the audit log could not be written yet.`, {
    remedy: "Make the database writable again: nothing is answered while it cannot be audited.",
  });
}

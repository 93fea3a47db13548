import { sql } from "kysely";
import type { Store } from "../port.ts";
import { sealedColumns } from "./sealed-columns.ts";
import { isSealedWith, type Sealer } from "./sealer.ts";

const chunk = 200;

/** The columns that identify a row of each table. */
const keys: Readonly<Record<string, readonly string[]>> = {
  entries: ["seq"],
  checkpoints: ["agent", "conversation", "name"],
  files: ["agent", "id"],
  summaries: ["agent", "id"],
  memories: ["num"],
  memory_recalls: ["agent", "conversation", "seq"],
  memory_reviews: ["id"],
  memory_files: ["scope", "path", "version"],
  inbox: ["num"],
  notices: ["agent", "key", "id"],
  cron_runs: ["agent", "job_id", "run_id"],
  quarantine: ["agent", "id"],
  secrets: ["agent", "id"],
};

/**
 * Writes every text of the database as `change` gives it: to encrypt what was written before, to replace a key, or to
 * decrypt everything. It can be interrupted and repeated. `store` must be the one below the encryption.
 */
export async function rewriteTexts(
  store: Store,
  change: (text: string) => string,
  onProgress: (table: string, rows: number) => void = () => undefined,
): Promise<{ rows: number }> {
  let total = 0;
  for (const [table, columns] of Object.entries(sealedColumns)) {
    let rows = 0;
    for await (const page of readPages(store, table, columns)) {
      rows += await rewritePage(store, table, columns, page, change);
      onProgress(table, rows);
    }
    total += rows;
  }
  return { rows: total };
}

type Row = Record<string, string | number | null>;

async function* readPages(store: Store, table: string, columns: readonly string[]): AsyncGenerator<Row[]> {
  const names = keys[table] ?? [];
  const wanted = sql.join([...names, ...columns].map((name) => sql.ref(name)));
  const order = sql.join(names.map((name) => sql.ref(name)));
  for (let last: Row | undefined; ; ) {
    const after = last;
    const from = after ? sql`where (${order}) > (${sql.join(names.map((name) => after[name]))})` : sql``;
    const { rows } =
      await sql<Row>`select ${wanted} from ${sql.table(table)} ${from} order by ${order} limit ${chunk}`.execute(
        store.db,
      );
    if (rows.length === 0) return;
    yield rows;
    last = rows.at(-1);
  }
}

async function rewritePage(
  store: Store,
  table: string,
  columns: readonly string[],
  page: readonly Row[],
  change: (text: string) => string,
): Promise<number> {
  const names = keys[table] ?? [];
  let changed = 0;
  await store.transaction(async (tx) => {
    for (const row of page) {
      const texts = columns.flatMap((column) => {
        const before = row[column];
        const after = typeof before === "string" ? change(before) : before;
        return after === before ? [] : [{ column, before, after }];
      });
      if (texts.length === 0) continue;
      const set = sql.join(texts.map(({ column, after }) => sql`${sql.ref(column)} = ${after}`));
      // A row that was changed meanwhile is left as it is: what changed it has encrypted it.
      const same = [
        ...names.map((name) => sql`${sql.ref(name)} = ${row[name]}`),
        ...texts.map(({ column, before }) => sql`${sql.ref(column)} = ${before}`),
      ];
      await sql`update ${sql.table(table)} set ${set} where ${sql.join(same, sql` and `)}`.execute(tx.db);
      changed += 1;
    }
  });
  return changed;
}

/** Encrypts a text with the current key, whatever it is encrypted with. */
export function reseal(sealer: Sealer): (text: string) => string {
  return (text) => (isSealedWith(text, sealer.keyId) ? text : sealer.seal(sealer.open(text)));
}

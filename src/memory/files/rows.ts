import type { Db, Store, StoreTransaction, Tx } from "../../store/index.ts";

/** One version of a file; without content for a removal. */
export interface FileVersion {
  path: string;
  version: number;
  content: string | null;
  createdAt: number;
}

/** The newest version of every file that is not removed. */
export async function readCurrentFiles(db: Db | Tx, scope: string): Promise<FileVersion[]> {
  const rows = await db
    .selectFrom("memory_files as file")
    .selectAll()
    .where("scope", "=", scope)
    .where("content", "is not", null)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom("memory_files as later")
            .select("later.version")
            .where("later.scope", "=", scope)
            .whereRef("later.path", "=", "file.path")
            .whereRef("later.version", ">", "file.version"),
        ),
      ),
    )
    .orderBy("path")
    .execute();
  return rows.map(({ path, version, content, created_at }) => ({ path, version, content, createdAt: created_at }));
}

/** All versions of a file, the oldest first. */
export async function readFileHistory(db: Db | Tx, scope: string, path: string): Promise<FileVersion[]> {
  const rows = await db
    .selectFrom("memory_files")
    .selectAll()
    .where("scope", "=", scope)
    .where("path", "=", path)
    .orderBy("version")
    .execute();
  return rows.map(({ version, content, created_at }) => ({ path, version, content, createdAt: created_at }));
}

/** Writes a new version of a file; null removes it. */
export async function writeVersion(
  tx: StoreTransaction,
  scope: string,
  path: string,
  content: string | null,
  now: number,
): Promise<void> {
  const version = ((await readFileHistory(tx.db, scope, path)).at(-1)?.version ?? 0) + 1;
  await tx.db.insertInto("memory_files").values({ scope, path, version, content, created_at: now }).execute();
}

/** Runs a transaction with the lock on the files of a scope. */
export function changeFiles<T>(store: Store, scope: string, work: (tx: StoreTransaction) => Promise<T>): Promise<T> {
  return store.transaction(async (tx) => {
    await tx.lock(`memory files ${scope}`);
    return work(tx);
  });
}

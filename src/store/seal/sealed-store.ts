import { rmSync, statSync } from "node:fs";
import type { Compilable } from "kysely";
import type {
  AppendBatch,
  BackupResult,
  BatchResults,
  BatchRows,
  MemoryTextMatch,
  NewMemoryRows,
  Store,
  StoreTransaction,
} from "../port.ts";
import { sealFile } from "./sealed-file.ts";
import type { Sealer, SealingKey } from "./sealer.ts";
import { createSealingPlugin, openRows } from "./sealing-plugin.ts";

/**
 * A store whose texts are encrypted in the database and plain for its callers. Nothing above it knows, except that a scan
 * cannot look for a text inside the database.
 */
export function sealStore(store: Store, sealer: Sealer, key: SealingKey, mode?: "seal" | "drop"): Store {
  const capture = mode && { mode, identify: (text: string) => `sec_${sealer.identify(text)}` };
  const sealBackup = async (file: string, write: (plain: string) => Promise<BackupResult>): Promise<BackupResult> => {
    const plain = `${file}.plain.partial`;
    try {
      await write(plain);
      await sealFile(plain, file, key);
    } finally {
      rmSync(plain, { force: true });
    }
    return { file, bytes: statSync(file).size };
  };
  const plugin = createSealingPlugin(sealer);
  const db = store.db.withPlugin(plugin);
  const wrapTransaction = (tx: StoreTransaction): StoreTransaction => ({
    ...tx,
    capture,
    db: tx.db.withPlugin(plugin),
    append: (batch) => tx.append(sealBatch(batch, sealer)),
    insertMemory: (memory) => tx.insertMemory(sealMemory(memory, sealer)),
  });
  return {
    ...store,
    db,
    capture,
    seal: sealer.seal,
    sealedWith: sealer.keyId,
    // Other threads have no key.
    entryFile: undefined,
    transaction: (work, options) => store.transaction((tx) => work(wrapTransaction(tx)), options),
    append: (batch) => store.append(sealBatch(batch, sealer)),
    async readBatch<Queries extends readonly Compilable[]>(queries: Queries) {
      const found = (await store.readBatch(queries)) as unknown[][];
      for (const rows of found) openRows(rows, sealer);
      return found as BatchRows<Queries>;
    },
    async writeBatch<Queries extends readonly Compilable[]>(queries: Queries, options = {}) {
      const written = (await store.writeBatch(queries, options)) as { rows: unknown[] }[];
      for (const { rows } of written) openRows(rows, sealer);
      return written as BatchResults<Queries>;
    },
    insertMemory: async (memory, unless) =>
      openMatches(await store.insertMemory(sealMemory(memory, sealer), unless), sealer),
    matchMemories: async (query) => openMatches(await store.matchMemories(query), sealer),
    matchNearDuplicates: async (query) => openMatches(await store.matchNearDuplicates(query), sealer),
    backup: (file) => sealBackup(file, store.backup),
    dump: (file) => sealBackup(file, store.dump),
    rebuildText: (extractWords) =>
      store.rebuildText((rows) => extractWords(rows.map((row) => ({ ...row, payload: sealer.open(row.payload) })))),
  };
}

function sealBatch(batch: AppendBatch, { seal }: Sealer): AppendBatch {
  const entries = batch.entries.map((entry) => ({
    ...entry,
    payload: seal(entry.payload),
    ...(entry.files === undefined
      ? {}
      : {
          files: entry.files.map((file) => ({
            ...file,
            name: file.name === null ? null : seal(file.name),
            summary: seal(file.summary),
            content: seal(file.content),
          })),
        }),
  }));
  return { ...batch, entries };
}

function sealMemory(memory: NewMemoryRows, { seal }: Sealer): NewMemoryRows {
  const { abstract, overview, content } = memory.row;
  return {
    ...memory,
    row: { ...memory.row, abstract: seal(abstract), overview: seal(overview), content: seal(content) },
  };
}

function openMatches(matches: MemoryTextMatch[], { open }: Sealer): MemoryTextMatch[] {
  return matches.map((match) => ({ ...match, abstract: open(match.abstract) }));
}

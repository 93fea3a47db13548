import type { OpenStoreOptions, Store } from "../port.ts";
import { reseal, rewriteTexts } from "./rewrite-texts.ts";
import { sealStore } from "./sealed-store.ts";
import { createMissingKeyError, createSealer } from "./sealer.ts";

/** The row of `meta` that lists the keys whose texts may be in the database. */
const keysName = "encryption_keys";

/** Wraps a store so that its texts are encrypted. Refuses a database whose texts could not be read. */
export async function openSealed(
  store: Store,
  { keys, captureSecrets }: Pick<OpenStoreOptions, "keys" | "captureSecrets">,
): Promise<Store> {
  const used = await readKeyIds(store);
  const known = new Set(keys?.map((key) => key.id));
  const missing = used.find((id) => !known.has(id));
  if (missing !== undefined) throw createMissingKeyError(missing);
  if (keys === undefined) return captureSecrets === undefined ? store : dropSecrets(store);
  const [current] = keys;
  const ids = [...new Set([...used, ...known])];
  if (ids.length > used.length) await writeKeyIds(store, ids);
  const sealer = createSealer(keys);
  return {
    ...sealStore(store, sealer, current, captureSecrets),
    async rewriteTexts({ decrypt = false, onProgress } = {}) {
      const done = await rewriteTexts(store, decrypt ? sealer.open : reseal(sealer), onProgress);
      await writeKeyIds(store, decrypt ? [] : [current.id]);
      // The pages that held the plain texts are rewritten too.
      if (!decrypt && done.rows > 0) await store.scrub();
      return done;
    },
  };
}

/** A store without a key drops credentials: it has no way to keep them aside. */
function dropSecrets(store: Store): Store {
  const capture = { mode: "drop" as const, identify: () => "" };
  return {
    ...store,
    capture,
    transaction: (work, options) => store.transaction((tx) => work({ ...tx, capture }), options),
  };
}

async function readKeyIds({ db }: Store): Promise<string[]> {
  const row = await db.selectFrom("meta").select("value").where("name", "=", keysName).executeTakeFirst();
  return row ? (JSON.parse(row.value) as string[]) : [];
}

/** Records which keys the texts of the database may be encrypted with; none when all are plain. */
async function writeKeyIds(store: Store, ids: readonly string[]): Promise<void> {
  await store.transaction(async (tx) => {
    const value = JSON.stringify(ids);
    await tx.db
      .insertInto("meta")
      .values({ name: keysName, value })
      .onConflict((conflict) => conflict.column("name").doUpdateSet({ value }))
      .execute();
  });
}

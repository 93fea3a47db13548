import type { Db, Tx } from "./schema.ts";

/**
 * Prepares text for the full-text indexes. Scripts written without spaces are split into single characters, so that a
 * two-character word is found as a phrase of two tokens. Characters that no index can hold become spaces.
 */
const unspaced =
  /[\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\uff66-\uff9d\u0e00-\u0e7f]|[\u{20000}-\u{3ffff}]/gu;
const hasUnspaced =
  /[\u0e00-\u0e7f\u3040-\u30ff\u31f0-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\uff66-\uff9d\ud840-\ud8bf]/;

export function indexWords(text: string): string {
  const clean = text.includes("\u0000") ? text.replaceAll("\u0000", " ") : text;
  const whole = clean.isWellFormed() ? clean : clean.toWellFormed();
  return hasUnspaced.test(whole) ? whole.replace(unspaced, " $& ") : whole;
}

/** Splits a query into words, each prepared like the index. A quoted phrase or a run of unspaced script is one word. */
export function queryWords(query: string): string[] {
  const words = query.match(/"[^"]*"|[^\s"]+/g) ?? [];
  return words
    .map((word) => indexWords(word.replaceAll('"', " ")).replace(/\s+/g, " ").trim())
    .filter((word) => /[\p{L}\p{N}]/u.test(word));
}

/** A row in `meta` while the text index is being rebuilt; left behind when the rebuild was interrupted. */
const mark = "text_rebuild";

export async function markRebuild(tx: Tx): Promise<void> {
  await tx
    .insertInto("meta")
    .values({ name: mark, value: "begun" })
    .onConflict((conflict) => conflict.column("name").doNothing())
    .execute();
}

export async function unmarkRebuild(tx: Tx): Promise<void> {
  await tx.deleteFrom("meta").where("name", "=", mark).execute();
}

/** Reports an interrupted rebuild of the text index, if there was one. */
export async function unfinishedRebuild(db: Db): Promise<string[]> {
  const row = await db.selectFrom("meta").select("name").where("name", "=", mark).executeTakeFirst();
  return row ? ["full-text index: its last rebuild was interrupted"] : [];
}

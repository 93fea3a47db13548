import type { Store } from "../../store/index.ts";
import { type ChainLink, chainStart, hashRow } from "./audit-record.ts";
import { readLink } from "./audit-writer.ts";

export interface ChainReport {
  intact: boolean;
  /** The rows that were checked, up to the first fault. */
  rows: number;
  /** The last link. Noted elsewhere, it proves later that nothing before it was changed or removed. */
  head: ChainLink;
  /** The fault, with the number of the row; null when there is none. */
  fault: { num: number; reason: string } | null;
}

const pageRows = 1_000;

/** Computes the whole chain again. `expected` is a link that was noted earlier. */
export async function verifyChain({ db }: Pick<Store, "db">, expected?: ChainLink): Promise<ChainReport> {
  let link = (await readLink(db, "anchor")) ?? chainStart;
  // Rows may be appended during the check; the head of its beginning must be among them.
  const storedHead = (await readLink(db, "head")) ?? link;
  const noted = [storedHead, ...(expected === undefined ? [] : [expected])];
  let rows = 0;
  const fail = (num: number, reason: string): ChainReport => ({
    intact: false,
    rows,
    head: link,
    fault: { num, reason },
  });
  for (const one of noted) if (one.num === link.num && one.hash !== link.hash) return fail(one.num, otherHash);
  for (;;) {
    const page = await db
      .selectFrom("audit")
      .selectAll()
      .where("num", ">", link.num)
      .orderBy("num")
      .limit(pageRows)
      .execute();
    for (const { hash, ...row } of page) {
      if (row.num !== link.num + 1) return fail(link.num + 1, "the row is missing");
      if (hash !== hashRow(link.hash, row)) return fail(row.num, "the row, or one before it, was changed");
      if (noted.some((one) => one.num === row.num && one.hash !== hash)) return fail(row.num, otherHash);
      link = { num: row.num, hash };
      rows += 1;
    }
    if (page.length < pageRows) break;
  }
  const lost = noted.find((one) => one.num > link.num);
  if (lost) return fail(link.num + 1, `the rows up to ${lost.num} are missing`);
  return { intact: true, rows, head: link, fault: null };
}

const otherHash = "the row has another hash than was noted";

import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { systemClock, systemRandom } from "../../domain/index.ts";
import { openStore, startSpareThreads } from "../index.ts";

const folder = mkdtempSync(join(tmpdir(), "varve-short-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const database = join(folder, "varve.db");
const open = (more: { isShortLived?: boolean } = {}) =>
  openStore({ database, clock: systemClock, random: systemRandom, ...more });

it("a short-lived store, in a thread that was started before, reads what it wrote and leaves only the database", async () => {
  await (await open()).close();
  startSpareThreads(1);
  const store = await open({ isShortLived: true });
  await store.writeBatch([store.db.insertInto("meta").values({ name: "stone", value: "granite" })]);
  // An open transaction is not visible to reads, although both are in one thread.
  await store.transaction(async ({ db }) => {
    await db.updateTable("meta").set({ value: "basalt" }).where("name", "=", "stone").execute();
    expect(await readStone(store.db)).toBe("granite");
  });
  expect(await readStone(store.db)).toBe("basalt");
  await store.close();
  await expect(readStone(store.db)).rejects.toMatchObject({ code: "STORE_CLOSED" });
  expect(readdirSync(folder)).toEqual(["varve.db"]);
});

it("a spare thread that is not needed does not disturb the next store", async () => {
  startSpareThreads(2);
  const store = await open({ isShortLived: true });
  expect(await readStone(store.db)).toBe("basalt");
  await store.close();
});

async function readStone(db: Awaited<ReturnType<typeof open>>["db"]): Promise<string | undefined> {
  const row = await db.selectFrom("meta").select("value").where("name", "=", "stone").executeTakeFirst();
  return row?.value;
}

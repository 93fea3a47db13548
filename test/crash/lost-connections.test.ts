/** The server ends connections while the engine works; the server itself goes on. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { systemClock, systemRandom, VarveError } from "../../src/domain/index.ts";
import { openVarve } from "../../src/engine.ts";
import { openStore } from "../../src/store/index.ts";
import { databaseKinds, type ScratchDatabase, scratchDatabase } from "../support/databases.ts";
import { rngOf, seedOfRun } from "../support/rng.ts";
import { assertHealthy, assertSameMessages, messagesIn } from "./log.ts";
import { batchOf } from "./messages.ts";

const rounds = 60;
const seed = seedOfRun();

describe.runIf(databaseKinds.includes("postgres"))("connections that PostgreSQL ends", () => {
  let scratch: ScratchDatabase;
  let admin: Client;
  const home = mkdtempSync(join(tmpdir(), "varve-lost-"));
  const endAll = () =>
    admin.query(
      "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()",
    );
  beforeAll(async () => {
    scratch = await scratchDatabase("postgres");
    admin = new Client({ connectionString: scratch.database });
    await admin.connect();
  });
  afterAll(async () => {
    await admin?.end();
    await scratch?.drop();
    rmSync(home, { recursive: true, force: true });
  });

  test(`lose nothing that was acknowledged, and the next call works (seed ${seed})`, async () => {
    const rng = rngOf(seed, "lost");
    const varve = await openVarve({ home, database: scratch.database });
    const session = await varve.sessions.resolve({ key: "agent:main:crash:direct:lost" });
    let ended = false;
    let failures = 0;
    const killer = (async () => {
      for (let round = 0; round < rounds; round += 1) {
        await sleep(rng.int(1, 30));
        await endAll();
      }
      ended = true;
    })();
    const expected = [];
    for (let index = 0; !ended || index < 10; index += 1) {
      const batch = batchOf(seed, `lost-${index}`, 10);
      expected.push(...batch);
      for (;;) {
        try {
          await varve.context.ingest(session, batch);
          break;
        } catch (error) {
          expect(error).toBeInstanceOf(VarveError);
          expect(error).toMatchObject({ code: "STORE_UNREACHABLE" });
          failures += 1;
        }
      }
    }
    await killer;
    assertSameMessages(await messagesIn(varve, session), expected, "after lost connections");
    await assertHealthy(varve, "after lost connections");
    await varve.close();
    console.log(`postgres: ${rounds} times all connections were ended, ${failures} calls said so`);
    expect(failures).toBeGreaterThan(0);
  });

  test("one that ends between two statements of a transaction fails that transaction and nothing else", async () => {
    const store = await openStore({ database: scratch.database, clock: systemClock, random: systemRandom });
    const lost = store.transaction(async ({ db }) => {
      await db.selectFrom("meta").selectAll().execute();
      await endAll();
      await sleep(100);
      return db.selectFrom("meta").selectAll().execute();
    });
    await expect(lost).rejects.toMatchObject({ code: "STORE_UNREACHABLE" });
    expect(await store.db.selectFrom("meta").selectAll().execute()).toHaveLength(1);
    await store.close();
  });
});

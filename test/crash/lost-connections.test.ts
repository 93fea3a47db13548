/** The server ends connections while the engine works; the server itself goes on. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Message, systemClock, systemRandom, VarveError } from "../../src/domain/index.ts";
import { openVarve, type StoreTap } from "../../src/index.ts";
import { openStore } from "../../src/store/index.ts";
import { databaseKinds, type ScratchDatabase, scratchDatabase } from "../support/databases.ts";
import { HandClock } from "../support/engines.ts";
import { type Rng, rngOf, seedOfRun } from "../support/rng.ts";
import { assertHealthy, assertSameMessages, messagesIn } from "./log.ts";
import { batchOf } from "./messages.ts";

const rounds = 60;
const heldRounds = 5;
const seed = seedOfRun();
/** The connections of the test itself, which it does not end. */
const application_name = "varve-lost-connections-test";

/** Asks for something to be done at some of the calls to the store, until it was done often enough. */
class RandomCallTap implements StoreTap {
  private readonly rng: Rng;
  private readonly act: () => void;
  private left = 0;
  private calls = 0;

  constructor(rng: Rng, act: () => void) {
    this.rng = rng;
    this.act = act;
  }

  start(): void {
    this.left = rounds;
  }

  get isDone(): boolean {
    return this.left === 0;
  }

  before(): void {
    if (this.left === 0 || this.calls-- > 0) return;
    this.calls = this.rng.int(0, 12);
    this.left -= 1;
    this.act();
  }
}

describe.runIf(databaseKinds.includes("postgres"))("connections that PostgreSQL ends", () => {
  let scratch: ScratchDatabase;
  let admin: Client;
  let locker: Client;
  const home = mkdtempSync(join(tmpdir(), "varve-lost-"));
  const others = `from pg_stat_activity where datname = current_database() and application_name <> '${application_name}'`;
  const endAll = () => admin.query(`select pg_terminate_backend(pid) ${others}`);
  const untilCount = async (query: string, isRight: (count: number) => boolean) => {
    while (!isRight((await admin.query(`select 1 ${query}`)).rowCount ?? 0));
  };
  beforeAll(async () => {
    scratch = await scratchDatabase("postgres");
    admin = new Client({ connectionString: scratch.database, application_name });
    locker = new Client({ connectionString: scratch.database, application_name });
    await admin.connect();
    await locker.connect();
  });
  afterAll(async () => {
    await admin?.end();
    await locker?.end();
    await scratch?.drop();
    rmSync(home, { recursive: true, force: true });
  });

  test(`lose nothing that was acknowledged, and the next call works (seed ${seed})`, async () => {
    let failures = 0;
    /** Repeats a call whose connection was ended; every other failure is one of the test. */
    const repeat = async <T>(call: () => Promise<T>): Promise<T> => {
      for (;;) {
        try {
          return await call();
        } catch (error) {
          expect(error).toBeInstanceOf(VarveError);
          expect(error).toMatchObject({ code: "STORE_UNREACHABLE" });
          failures += 1;
        }
      }
    };
    let ending: Promise<unknown> = Promise.resolve();
    const tap = new RandomCallTap(rngOf(seed, "lost"), () => {
      ending = ending.then(endAll);
    });
    const varve = await openVarve({ home, database: scratch.database, clock: new HandClock(Date.now()), tap });
    const session = await varve.sessions.resolve({ key: "agent:main:crash:direct:lost" });
    const expected: Message[] = [];
    tap.start();
    for (let index = 0; !tap.isDone; index += 1) {
      const batch = batchOf(seed, `lost-${index}`, 10);
      expected.push(...batch);
      await repeat(() => varve.context.ingest(session, batch));
    }
    await ending;
    const byChance = failures;

    // A lock holds the call in the server until its connection is ended: these calls fail whatever the timing.
    for (let index = 0; index < heldRounds; index += 1) {
      const batch = batchOf(seed, `held-${index}`, 10);
      expected.push(...batch);
      const before = failures;
      await locker.query("begin");
      await locker.query("lock table entries in exclusive mode");
      const ingested = repeat(() => varve.context.ingest(session, batch));
      await untilCount(`${others} and wait_event_type = 'Lock'`, (count) => count > 0);
      await endAll();
      await untilCount(`${others} and wait_event_type = 'Lock'`, (count) => count === 0 || failures > before);
      await locker.query("rollback");
      await ingested;
      expect(failures).toBeGreaterThan(before);
    }
    assertSameMessages(await repeat(() => messagesIn(varve, session)), expected, "after lost connections");
    await assertHealthy(varve, "after lost connections");
    await varve.close();
    console.log(`postgres: ${rounds} times all connections were ended, ${byChance} calls said so`);
  });

  test("one that ends between two statements of a transaction fails that transaction and nothing else", async () => {
    const store = await openStore({ database: scratch.database, clock: systemClock, random: systemRandom });
    const lost = store.transaction(async ({ db }) => {
      await db.selectFrom("meta").selectAll().execute();
      await endAll();
      await untilCount(others, (count) => count === 0);
      return db.selectFrom("meta").selectAll().execute();
    });
    await expect(lost).rejects.toMatchObject({ code: "STORE_UNREACHABLE" });
    const version = store.db.selectFrom("meta").selectAll().where("name", "=", "schema_version");
    expect(await version.execute()).toHaveLength(1);
    await store.close();
  });
});

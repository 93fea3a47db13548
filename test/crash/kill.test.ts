import { afterAll, describe, expect, test } from "vitest";
import { type DatabaseKind, databaseKinds } from "../support/databases.ts";
import { isLongRun } from "../support/long-run.ts";
import { seedOfRun } from "../support/rng.ts";
import { addTally, emptyTally, killMany } from "./kill-loop.ts";
import { operations } from "./operations.ts";

const seed = seedOfRun();
/** How many kills on SQLite; PostgreSQL gets a share of them, because each process takes longer to connect to a server. */
const killsWanted = Number(process.env.VARVE_TEST_KILLS ?? (isLongRun ? 2_500 : 500));
const share: Record<DatabaseKind, number> = { sqlite: 1, postgres: 0.3 };

console.log(`crash seed ${seed}: VARVE_TEST_SEED=${seed} repeats everything but the instants of some kills`);

describe.each(databaseKinds)("a process that is killed at any instant, on %s", (kind) => {
  const total = emptyTally();
  const kills = Math.ceil((killsWanted * share[kind]) / operations.length);

  test.each(operations.map((operation) => [operation.name, operation] as const))(
    "during %s loses nothing that was acknowledged and leaves nothing half done",
    async (_name, operation) => {
      const tally = emptyTally();
      // Two databases at a time, one for each core of a small machine.
      const killHalf = (number: number) => killMany(operation, kind, Math.ceil(kills / 2), seed + number * 1000, tally);
      await Promise.all([killHalf(0), killHalf(1)]);
      addTally(total, tally);
      expect(tally.kills).toBe(2 * Math.ceil(kills / 2));
      // A kill between two steps proves little: each one comes while opening or with a step under way.
      expect(tally.opening).toBeGreaterThan(0);
      expect(tally.opening + tally.working).toBe(tally.kills);
    },
  );

  afterAll(() => {
    const { acknowledged, opening, working, whole, absent } = total;
    console.log(
      `${kind}: ${total.kills} kills (${opening} while opening, ${working} in the middle of a step), ` +
        `${acknowledged} acknowledged messages all there, ${whole + absent} steps cut off: ` +
        `${whole} had happened wholly, ${absent} left nothing`,
    );
    // On every database some steps are cut off at their first call, and some after their last one.
    if (total.kills < 10 * operations.length) return;
    expect(whole).toBeGreaterThan(0);
    expect(absent).toBeGreaterThan(0);
  });
});

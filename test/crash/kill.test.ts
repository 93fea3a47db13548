import { afterAll, describe, expect, test } from "vitest";
import { type DatabaseKind, databaseKinds } from "../support/databases.ts";
import { seedOfRun } from "../support/rng.ts";
import { killMany, noTally } from "./lane.ts";
import { operations } from "./operations.ts";

const seed = seedOfRun();
/** How many kills on SQLite; PostgreSQL gets a share of them, because a server is slower to start anew on. */
const killsWanted = Number(process.env.VARVE_TEST_KILLS ?? 500);
const share: Record<DatabaseKind, number> = { sqlite: 1, postgres: 0.3 };

console.log(`crash seed ${seed}: VARVE_TEST_SEED=${seed} repeats everything but the instants of the kills`);

describe.each(databaseKinds)("a process that is killed at any instant, on %s", (kind) => {
  const tally = noTally();
  let asked = 0;
  const kills = Math.ceil((killsWanted * share[kind]) / operations.length);

  test.each(operations.map((operation) => [operation.name, operation] as const))(
    "during %s loses nothing that was acknowledged and leaves nothing half done",
    async (_name, operation) => {
      // Two databases at a time, one for each core of a small machine.
      const lane = (number: number) => killMany(operation, kind, Math.ceil(kills / 2), seed + number * 1000, tally);
      asked += 2 * Math.ceil(kills / 2);
      await Promise.all([lane(0), lane(1)]);
    },
  );

  afterAll(() => {
    const { acknowledged, opening, working, whole, absent } = tally;
    console.log(
      `${kind}: ${tally.kills} kills (${opening} while opening, ${working} in the middle of a step), ` +
        `${acknowledged} acknowledged messages all there, ${whole + absent} steps cut off: ` +
        `${whole} had happened wholly, ${absent} left nothing`,
    );
    expect(tally.kills).toBe(asked);
    // A kill between two steps proves little.
    expect(working).toBeGreaterThan(tally.kills * 0.4);
    expect(opening).toBeGreaterThan(0);
  });
});

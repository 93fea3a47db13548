/** Many processes on one database at once: writers, a reader, an importer; some are killed and replaced. */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openVarve, type Varve } from "../../src/index.ts";
import { databaseKinds, scratchDatabase } from "../support/databases.ts";
import { HandClock } from "../support/engines.ts";
import { type Rng, rngOf, seedOfRun } from "../support/rng.ts";
import { Child } from "./child-pool.ts";
import { batchesOfWriter, batchMaxOfWriter, childOf, keyOfWriter } from "./concurrent-writers.ts";
import { assertHealthy, assertSameMessages, messagesIn } from "./log.ts";
import { batchOf, markOf } from "./messages.ts";
import type { KillPoint, Place } from "./operation.ts";
import { importing } from "./operations/import.ts";

const writers = Array.from({ length: 8 }, (_, index) => index);
const killedWriters = new Set([0, 1, 4, 5]);
const killsOfWriter = 3;
const readsLeast = 11;
const seed = seedOfRun();

describe.each(databaseKinds)("ten processes on one database, on %s", (kind) => {
  test(`lose nothing, write nothing twice and keep the order (seed ${seed})`, async () => {
    const scratch = await scratchDatabase(kind);
    const base = mkdtempSync(join(tmpdir(), "varve-processes-"));
    const place: Place = {
      kind,
      database: scratch.database,
      home: join(base, "home"),
      folder: join(base, "files"),
      seed,
    };
    mkdirSync(place.folder);
    // The clock of the check stands still: no lease of a killed process expires because the machine is slow.
    const clock = new HandClock(Date.now());
    try {
      const reader = await started(place, "reader", 0);
      const importer = await started(place, "importer", 0);
      const kills = await Promise.all(writers.map((writer) => write(place, writer, rngOf(seed, kind, writer))));
      await reader.untilDone(readsLeast);
      await importer.untilDone(1);
      // The reader and the importer work until they are stopped; ending by themselves would be an error.
      const [read, imported] = [await reader.kill(0), await importer.kill(0)];
      const varve = await openVarve({ home: place.home, database: place.database, clock });
      const messages = await assertEverything(varve, seed);
      await importing.verifier(place).check(varve, imported);
      await assertHealthy(varve, "after all processes");
      await varve.close();
      const killed = kills.reduce((sum, count) => sum + count, 0);
      console.log(`${kind}: 8 writers, ${killed} killed and replaced, ${messages} messages, ${read.done.length} reads`);
      expect(killed).toBe(killedWriters.size * killsOfWriter);
      expect(read.done.length).toBeGreaterThanOrEqual(readsLeast);
    } finally {
      await scratch.drop();
      rmSync(base, { recursive: true, force: true });
    }
  });
});

async function started(place: Place, operation: string, child: number, killPoint?: KillPoint): Promise<Child> {
  const process = new Child();
  await process.start({ operation, child, place, killPoint });
  return process;
}

/** One writer until all its batches are acknowledged; returns how often it was killed on the way. */
async function write(place: Place, writer: number, rng: Rng): Promise<number> {
  let from = 0;
  for (let kills = 0; ; kills += 1) {
    if (!killedWriters.has(writer) || kills === killsOfWriter) {
      await (await started(place, "writer", childOf(writer, from))).finish(writer);
      return kills;
    }
    const killPoint = chooseKillPoint(rng);
    const process = await started(place, "writer", childOf(writer, from), killPoint);
    // The one that takes over sends again what was never acknowledged.
    const { done, pending } = await process.untilKilled(writer);
    expect(pending.length).toBeGreaterThan(0);
    from += done.length;
  }
}

/** All kills together take fewer batches than a writer has. */
function chooseKillPoint(rng: Rng): KillPoint {
  const step = rng.int(1, Math.floor(batchesOfWriter / 5));
  if (rng.next() < 0.3) return { at: "end", step };
  return { at: "call", step, call: rng.int(1, 4), when: rng.pick(["before", "after"]) };
}

/** Each writer's messages, in its order, each once: alone in its own session, between the others in the shared one. */
async function assertEverything(varve: Varve, runSeed: number): Promise<number> {
  let count = 0;
  for (const key of new Set(writers.map(keyOfWriter))) {
    const found = await messagesIn(varve, await varve.sessions.get(key));
    const members = writers.filter((writer) => keyOfWriter(writer) === key);
    for (const writer of members) {
      const own = found.filter((message) => markOf(message)?.batch.startsWith(`w${writer}-`));
      const names = Array.from({ length: batchesOfWriter }, (_, index) => `w${writer}-${index}`);
      const expected = names.flatMap((name) => batchOf(runSeed, name, batchMaxOfWriter));
      assertSameMessages(own, expected, `writer ${writer}`);
      count += own.length;
    }
    assertBatchesTogether(
      found.map((message) => markOf(message)?.batch ?? ""),
      key,
    );
    assert.equal(new Set(found.map((message) => message.id)).size, found.length, `${key} holds a message twice`);
  }
  return count;
}

/** A batch is one append: nobody else's message stands inside it. */
function assertBatchesTogether(batches: string[], key: string): void {
  const starts = batches.filter((batch, index) => batch !== batches[index - 1]);
  assert.equal(new Set(starts).size, starts.length, `${key}: a batch was torn apart`);
}

/** One database after another, one process after another on each: started, killed, checked. */
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import { openVarve, type Varve } from "../../src/engine.ts";
import { type DatabaseKind, scratchDatabase } from "../support/databases.ts";
import { type Rng, rngOf } from "../support/rng.ts";
import { Nursery } from "./children.ts";
import { assertHealthy } from "./log.ts";
import type { Operation, Place, Run, Verifier } from "./operation.ts";

export interface Tally {
  kills: number;
  /** Killed while the database was being opened, or before the first step was acknowledged. */
  opening: number;
  /** Killed after the first acknowledgement, with a step under way. */
  working: number;
  acknowledged: number;
  /** Steps under way that had happened wholly, and that had left nothing. */
  whole: number;
  absent: number;
}

export const noTally = (): Tally => ({ kills: 0, opening: 0, working: 0, acknowledged: 0, whole: 0, absent: 0 });

const killsOfDatabase = 20;
const openingShare = 0.15;
const openingMsMax = 120;
const workingMsMax = 400;

export async function killMany(
  operation: Operation,
  kind: DatabaseKind,
  kills: number,
  seed: number,
  tally: Tally,
): Promise<void> {
  const nursery = new Nursery();
  try {
    for (let left = kills, round = 0; left > 0; left -= killsOfDatabase, round += 1) {
      await onOneDatabase(nursery, operation, kind, Math.min(left, killsOfDatabase), seed + round, tally);
    }
  } finally {
    await nursery.close();
  }
}

async function onOneDatabase(
  nursery: Nursery,
  operation: Operation,
  kind: DatabaseKind,
  kills: number,
  seed: number,
  tally: Tally,
): Promise<void> {
  const scratch = await scratchDatabase(kind);
  const base = mkdtempSync(join(tmpdir(), "varve-crash-"));
  const place: Place = {
    kind,
    database: scratch.database,
    home: join(base, "home"),
    folder: join(base, "files"),
    seed,
  };
  mkdirSync(place.folder);
  const rng = rngOf(seed, operation.name, kind, "kills");
  try {
    await operation.prepare?.(place);
    const verifier = operation.verifier(place);
    for (let child = 1; child <= kills; child += 1) {
      const run = await runAndKill(nursery, operation, place, child, rng, tally);
      await checked(place, verifier, run, rng, tally);
    }
    if (verifier.finish) {
      const varve = await open(place, place.database);
      await verifier.finish(varve);
      await assertHealthy(varve, operation.name);
      await varve.close();
    }
  } catch (error) {
    const where = `${operation.name} on ${kind}, seed ${seed}`;
    throw new Error(`${where}: ${error instanceof Error ? error.message : error}`, { cause: error });
  } finally {
    await scratch.drop();
    rmSync(base, { recursive: true, force: true });
  }
}

async function runAndKill(
  nursery: Nursery,
  operation: Operation,
  place: Place,
  child: number,
  rng: Rng,
  tally: Tally,
): Promise<Run> {
  const subject = nursery.take();
  await subject.start({ operation: operation.name, child, place });
  if (rng.next() < openingShare) await sleep(rng.int(0, openingMsMax));
  else {
    await subject.firstStep();
    // Short waits are more frequent than long ones: beginnings are where things go wrong.
    await sleep(1 + rng.next() ** 2 * workingMsMax);
  }
  const run = await subject.kill(child);
  if (place.kind === "postgres") await untilAlone(place.database);
  tally.kills += 1;
  if (run.done.length === 0) tally.opening += 1;
  else if (run.pending.length > 0) tally.working += 1;
  return run;
}

/** The server goes on with what a dead process has sent it; what counts is what it ends with. */
async function untilAlone(database: string): Promise<void> {
  const client = new Client({ connectionString: database });
  await client.connect();
  try {
    for (;;) {
      const others = await client.query(
        "select 1 from pg_stat_activity where datname like current_database() || '%' and pid <> pg_backend_pid()",
      );
      if (others.rowCount === 0) return;
      await sleep(2);
    }
  } finally {
    await client.end();
  }
}

/**
 * Half of the time a copy of the files is checked, as another machine would find them, and the next process finds the
 * database just as the dead one left it. The other half the database itself is opened and closed in order.
 */
async function checked(place: Place, verifier: Verifier, run: Run, rng: Rng, tally: Tally): Promise<void> {
  const copy = place.kind === "sqlite" && rng.next() < 0.5 ? copyOf(place) : undefined;
  const varve = await open(place, copy ?? place.database);
  try {
    const seen = await verifier.check(varve, run);
    tally.acknowledged += seen.acknowledged;
    tally.whole += seen.whole;
    tally.absent += seen.absent;
    await assertHealthy(varve, `child ${run.child}`);
  } finally {
    await varve.close();
    if (copy) for (const suffix of ["", "-wal", "-shm"]) rmSync(copy + suffix, { force: true });
  }
}

function open(place: Place, database: string): Promise<Varve> {
  const store = { readers: 1, cacheMiB: 8 };
  return openVarve({ home: place.home, database, config: { store, import: { batchSize: 25 } } });
}

function copyOf(place: Place): string {
  const copy = join(place.folder, "copy.db");
  if (!existsSync(place.database)) return copy;
  copyFileSync(place.database, copy);
  if (existsSync(`${place.database}-wal`)) copyFileSync(`${place.database}-wal`, `${copy}-wal`);
  return copy;
}

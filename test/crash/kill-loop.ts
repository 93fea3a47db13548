/** Kills one process after another on one database after another, and checks what each of them left. */
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import { openVarve, type Varve } from "../../src/index.ts";
import { type DatabaseKind, scratchDatabase } from "../support/databases.ts";
import { HandClock } from "../support/engines.ts";
import { type Rng, rngOf } from "../support/rng.ts";
import { ChildPool } from "./child-pool.ts";
import { assertHealthy } from "./log.ts";
import type { KillPoint, Operation, Place, Run, Verifier } from "./operation.ts";

export interface Tally {
  kills: number;
  /** Killed while the database was being opened, before the first step. */
  opening: number;
  /** Killed with a step under way. */
  working: number;
  acknowledged: number;
  /** Steps under way that had happened wholly, and that had left nothing. */
  whole: number;
  absent: number;
}

export const emptyTally = (): Tally => ({ kills: 0, opening: 0, working: 0, acknowledged: 0, whole: 0, absent: 0 });

export function addTally(sum: Tally, more: Tally): void {
  for (const name of Object.keys(sum) as (keyof Tally)[]) sum[name] += more[name];
}

const killsOfDatabase = 20;
/** Every so many kills the same kinds of kill points follow each other. */
const cycle = 7;
const callsMax = 12;
/** Used until the first process has shown how long opening takes here. */
const openingMsGuess = 100;

/** What one database is killed on: its clock stands still, so that no lease of a killed process expires in a check. */
interface Subject {
  operation: Operation;
  place: Place;
  clock: HandClock;
  rng: Rng;
  openingMs: number;
}

export async function killMany(
  operation: Operation,
  kind: DatabaseKind,
  kills: number,
  seed: number,
  tally: Tally,
): Promise<void> {
  const pool = new ChildPool();
  try {
    for (let left = kills, round = 0; left > 0; left -= killsOfDatabase, round += 1) {
      await killOnOneDatabase(pool, operation, kind, Math.min(left, killsOfDatabase), seed + round, tally);
    }
  } finally {
    await pool.close();
  }
}

async function killOnOneDatabase(
  pool: ChildPool,
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
  const subject: Subject = { operation, place, rng, clock: new HandClock(Date.now()), openingMs: openingMsGuess };
  try {
    await operation.prepare?.(place);
    const verifier = operation.verifier(place);
    for (let child = 1; child <= kills; child += 1) {
      const run = await runAndKill(pool, subject, child, tally);
      await check(subject, verifier, run, tally);
    }
    if (verifier.finish) {
      const varve = await open(subject, place.database);
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

/** The first kills of every database are one of each kind; the later ones are at random calls and instants. */
function chooseKillPoint(child: number, { rng, operation }: Subject): KillPoint {
  // Early steps are more frequent than late ones: beginnings are where things go wrong.
  const early = (max: number) => 1 + Math.floor(rng.next() ** 2 * max);
  const step = early(operation.stepsMax);
  switch (child % cycle) {
    case 1:
      return { at: "opening" };
    case 2:
      return { at: "call", step, call: 1, when: "before" };
    case 3:
      return { at: "end", step };
    default:
      if (rng.next() < 0.5) return { at: "instant", step };
      return { at: "call", step, call: early(callsMax), when: rng.pick(["before", "after"]) };
  }
}

async function runAndKill(pool: ChildPool, subject: Subject, child: number, tally: Tally): Promise<Run> {
  const { operation, place, rng } = subject;
  const process = pool.take();
  const killPoint = chooseKillPoint(child, subject);
  await process.start({ operation: operation.name, child, place, killPoint });
  let run: Run;
  // An instant is a share of what the same work took before on this machine, and a little more.
  if (killPoint.at === "opening") {
    await sleep(rng.next() * 1.2 * subject.openingMs);
    run = await process.kill(child);
  } else if (killPoint.at === "instant") {
    await process.untilBegun(killPoint.step);
    await sleep(rng.next() * 1.2 * (process.stepMs ?? 5));
    run = await process.kill(child);
  } else run = await process.untilKilled(child);
  subject.openingMs = process.openingMs ?? subject.openingMs;
  if (place.kind === "postgres") await untilAlone(place.database);
  tally.kills += 1;
  if (killPoint.at === "opening" && run.done.length + run.pending.length === 0) tally.opening += 1;
  if (killPoint.at !== "opening" && run.pending.length > 0) tally.working += 1;
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
async function check(subject: Subject, verifier: Verifier, run: Run, tally: Tally): Promise<void> {
  const { place, rng } = subject;
  const copy = place.kind === "sqlite" && rng.next() < 0.5 ? copyOf(place) : undefined;
  const varve = await open(subject, copy ?? place.database);
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

function open({ place, clock }: Subject, database: string): Promise<Varve> {
  const store = { readers: 1, cacheMiB: 8 };
  return openVarve({ home: place.home, database, clock, config: { store, import: { batchSize: 25 } } });
}

function copyOf(place: Place): string {
  const copy = join(place.folder, "copy.db");
  if (!existsSync(place.database)) return copy;
  copyFileSync(place.database, copy);
  if (existsSync(`${place.database}-wal`)) copyFileSync(`${place.database}-wal`, `${copy}-wal`);
  return copy;
}

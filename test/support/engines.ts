/** The engine on every kind of database: what a conformance test runs on. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe } from "vitest";
import type { Clock, Random } from "../../src/domain/index.ts";
import { type OpenOptions, openVarve, type Varve } from "../../src/index.ts";
import { databaseKinds, type ScratchDatabase, scratchDatabase } from "./databases.ts";

/** A clock that stands still until it is moved. */
export class HandClock implements Clock {
  time: number;

  constructor(time = Date.UTC(2026, 0, 15, 12)) {
    this.time = time;
  }

  now(): number {
    return this.time;
  }

  advance(ms: number): void {
    this.time += ms;
  }
}

export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  return {
    bytes: (count) =>
      Uint8Array.from({ length: count }, () => {
        state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
        return state >>> 24;
      }),
  };
}

export interface EngineUnderTest {
  kind: "sqlite" | "postgres";
  varve: Varve;
  clock: HandClock;
  database: string;
  home: string;
  /** Another engine on the same database, as another process would open it. */
  another(options?: OpenOptions): Promise<Varve>;
}

/** Runs the same tests on every engine. */
export function onEveryEngine(
  name: string,
  tests: (get: () => EngineUnderTest) => void,
  options: OpenOptions = {},
): void {
  describe.each(databaseKinds)(`${name} on %s`, (kind) => {
    let scratch: ScratchDatabase;
    let under: EngineUnderTest;
    const opened: Varve[] = [];
    beforeAll(async () => {
      scratch = await scratchDatabase(kind);
      const home = mkdtempSync(join(tmpdir(), "varve-home-"));
      const clock = new HandClock();
      const base = { home, database: scratch.database, clock, random: seededRandom(7), background: false, ...options };
      const varve = await openVarve(base);
      const another = async (more: OpenOptions = {}) => {
        const next = await openVarve({ ...base, random: seededRandom(Date.now()), ...more });
        opened.push(next);
        return next;
      };
      under = { kind, varve, clock, database: scratch.database, home, another };
    });
    afterAll(async () => {
      for (const varve of opened) await varve.close();
      await under?.varve.close();
      await scratch?.drop();
      if (under) rmSync(under.home, { recursive: true, force: true });
    });
    tests(() => under);
  });
}

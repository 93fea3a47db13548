import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { openVarve, type Varve } from "../../src/index.ts";
import { type DatabaseKind, databaseKinds, scratchDatabase } from "../support/databases.ts";
import { HandClock, seededRandom } from "../support/engines.ts";
import { type Fault, FaultTap, faults } from "./fault-tap.ts";
import { stateAfter, type Turn, turnSteps } from "./turn.ts";

interface Stage {
  turn: Turn;
  tap: FaultTap;
}

async function onFreshDatabase<T>(
  kind: DatabaseKind,
  work: (begin: (name: string) => Stage) => Promise<T>,
): Promise<T> {
  const scratch = await scratchDatabase(kind);
  const home = mkdtempSync(join(tmpdir(), "varve-faults-"));
  const tap = new FaultTap();
  const varve = await openVarve({
    background: false,
    home,
    database: scratch.database,
    clock: new HandClock(),
    random: seededRandom(7),
    config: { store: { readers: 1, cacheMiB: 4 }, import: { batchSize: 3 } },
    tap,
  });
  try {
    return await work((name) => ({ turn: { varve, name, folder: home }, tap }));
  } finally {
    await varve.close();
    await scratch.drop();
    rmSync(home, { recursive: true, force: true });
  }
}

/** A turn in which one call fails, and the step it belongs to is tried again. */
async function turnWithFault({ turn, tap }: Stage, step: number, fault: Fault, at: number) {
  let failed: unknown;
  let isInjected = false;
  for (const [index, one] of turnSteps.entries()) {
    if (index !== step) await one.run(turn);
    else {
      tap.arm(fault, at);
      failed = await one.run(turn).then(
        () => undefined,
        (error: unknown) => error,
      );
      isInjected = tap.hasFailed;
      tap.reset();
      if (failed !== undefined) await one.run(turn);
    }
  }
  return { failed, isInjected, state: await stateAfter(turn) };
}

/** The imported file has a broken line on purpose. */
async function faultsFound(varve: Varve): Promise<string[]> {
  const report = await varve.doctor();
  return report.findings.filter((one) => !one.check.includes("quarantine")).flatMap((one) => one.faults);
}

async function turnWithoutFault({ turn, tap }: Stage): Promise<{ calls: number[]; state: unknown }> {
  const calls: number[] = [];
  for (const step of turnSteps) {
    tap.reset();
    await step.run(turn);
    calls.push(tap.count);
    // Whatever is tried again must be harmless when it had succeeded.
    if (step.name !== "open a new session") await step.run(turn);
  }
  return { calls, state: await stateAfter(turn) };
}

describe.each(databaseKinds)("when the n-th call to the store fails, for every n, on %s", (kind) => {
  let calm: Awaited<ReturnType<typeof turnWithoutFault>>;
  beforeAll(async () => {
    calm = await onFreshDatabase(kind, (begin) => turnWithoutFault(begin("calm")));
  });

  describe.each(turnSteps.map((step, index) => [step.name, index] as const))("during: %s", (_name, step) => {
    // One engine on a fresh database for all n, each turn in sessions of its own: what a fault leaves behind in the
    // engine would show in the next turn.
    test.each(faults.map((fault) => [fault.name, fault] as const))(
      "%s is reported, and the same step then succeeds as if nothing had been",
      async (_fault, fault) => {
        const calls = calm.calls[step] ?? 0;
        expect(calls).toBeGreaterThan(0);
        await onFreshDatabase(kind, async (begin) => {
          for (let at = 1; at <= calls; at += 1) {
            const { failed, isInjected, state } = await turnWithFault(begin(`t${at}`), step, fault, at);
            const where = `call ${at} of ${calls}`;
            // A database that is busy for a moment is waited for; every other failure reaches the caller.
            if (failed !== undefined || (isInjected && fault.code !== "STORE_BUSY")) {
              expect(failed, where).toMatchObject({ name: "VarveError", code: fault.code });
            }
            expect(state, where).toEqual(calm.state);
          }
          expect(await faultsFound(begin("end").turn.varve)).toEqual([]);
        });
      },
    );
  });
});

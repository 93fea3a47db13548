/** A sweep whose n-th call to the store fails, reads ahead included, and is then repeated: the summaries are the same. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openVarve, type Varve } from "../../src/index.ts";
import { type DatabaseKind, databaseKinds, scratchDatabase } from "../support/databases.ts";
import { HandClock, seededRandom } from "../support/engines.ts";
import { FaultTap, faults } from "./fault-tap.ts";

const budgetTokens = 1_500;
/** Longer than a sweep holds its conversation. A sweep that could not write any more could not return it either. */
const leaseMs = 3_600_000;
/** Small chunks, so that a sweep has many passes and reads ahead for each. */
const context = { leafChunkTokens: 600, freshTailCount: 8 };
const messages = Array.from({ length: 120 }, (_, index) => ({
  id: `m${index}`,
  role: index % 2 === 0 ? ("user" as const) : ("assistant" as const),
  content: `Step ${index}: ${`the pump of boat ${index % 7} was moved to pier ${index % 5} because of the tide. `.repeat(4)}`,
  time: 1_000 * index,
}));

async function withVarve(
  kind: DatabaseKind,
  work: (varve: Varve, tap: FaultTap, clock: HandClock) => Promise<void>,
): Promise<void> {
  const scratch = await scratchDatabase(kind);
  const home = mkdtempSync(join(tmpdir(), "varve-sweep-"));
  const tap = new FaultTap();
  const clock = new HandClock();
  const base = { home, database: scratch.database, clock, random: seededRandom(7), tap };
  const varve = await openVarve({ ...base, background: false, config: { context } });
  try {
    await work(varve, tap, clock);
  } finally {
    await varve.close();
    await scratch.drop();
    rmSync(home, { recursive: true, force: true });
  }
}

/** What the model would see: summaries and messages, without the numbers that differ between conversations. */
async function sweep(varve: Varve, name: string, during: (run: () => Promise<unknown>) => Promise<void>) {
  const session = await varve.sessions.resolve({ key: `agent:main:sweep:direct:${name}` });
  await varve.context.ingest(session, messages);
  await during(() => varve.context.compact(session, { budgetTokens }));
  const view = await varve.context.assemble(session, { budgetTokens: 4 * budgetTokens });
  return view.messages.map(({ content }) => JSON.stringify(content).replaceAll(/(sum_|msg#)\w+/g, "$1"));
}

describe.each(databaseKinds)("a sweep with a fault of the store on %s", (kind) => {
  test.each(faults.map((fault) => [fault.name, fault] as const))("%s", async (_name, fault) => {
    await withVarve(kind, async (varve, tap, clock) => {
      let calls = 0;
      const calm = await sweep(varve, "calm", async (run) => {
        tap.reset();
        await run();
        calls = tap.count;
      });
      expect(calm.join()).toContain("sum_");
      for (let at = 1; at <= calls; at += Math.ceil(calls / 12)) {
        const found = await sweep(varve, `at-${at}`, async (run) => {
          tap.arm(fault, at);
          await run().catch((error: unknown) => expect(error).toMatchObject({ code: fault.code }));
          tap.reset();
          clock.advance(leaseMs);
          await run();
        });
        expect(found, `call ${at} of ${calls}`).toEqual(calm);
      }
    });
  });
});

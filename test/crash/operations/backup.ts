import assert from "node:assert/strict";
import { copyFileSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { openVarve, restoreBackup } from "../../../src/index.ts";
import { assertHealthy, assertSameMessages, BatchLog, messagesIn } from "../log.ts";
import { batchOf } from "../messages.ts";
import type { Operation, Place, Run, Step, Verifier } from "../operation.ts";

const address = { key: "agent:main:crash:direct:backup" };
const fillBatches = 6;

/** Writes, and takes a backup of each kind in turn. */
export const backup: Operation = {
  name: "backup",
  stepsMax: 4,
  async prepare(place) {
    const varve = await openVarve({ home: place.home, database: place.database });
    const session = await varve.sessions.resolve(address);
    for (const batch of fillNames()) await varve.context.ingest(session, batchOf(place.seed, batch, fillMax));
    await varve.close();
  },
  async run({ place, child, open, step }) {
    const varve = await open();
    const session = await varve.sessions.resolve(address);
    for (let index = 0; ; index += 1) {
      const batch = `${child}-${index}`;
      await step({ batch }, () => varve.context.ingest(session, batchOf(place.seed, batch, fillMax)));
      const portable = place.kind === "postgres" || index % 2 === 1;
      const file = join(place.folder, `backup-${batch}.${portable ? "jsonl.gz" : "db"}`);
      await step({ file, batches: index + 1 }, () => varve.backup(file, { portable }));
    }
  },
  verifier: (place) => backupVerifier(place),
};

const fillMax = 400;
const fillNames = () => Array.from({ length: fillBatches }, (_, index) => `fill-${index}`);

function backupVerifier(place: Place): Verifier {
  const log = new BatchLog(place.seed, fillMax);
  log.check(
    fillNames().flatMap((batch) => batchOf(place.seed, batch, fillMax)),
    { child: 0, done: fillNames().map((batch) => ({ batch })), pending: [] },
  );
  return {
    async check(varve, run) {
      const before = log.expected.length;
      const found = await messagesIn(varve, await varve.sessions.resolve(address));
      const seen = log.check(found, run);
      const taken = run.done.filter((step) => "file" in step);
      for (const step of taken) assert.ok(existsSync(`${step.file}`), `${step.file} was acknowledged and is gone`);
      // Opening one takes long; the last of a run is the one nearest to the kill.
      for (const step of taken.slice(-1)) await assertWhole(place, step, log, before, run);
      for (const step of run.pending.filter((one) => "file" in one)) {
        const named = existsSync(`${step.file}`);
        if (named) await assertWhole(place, step, log, before, run);
        seen[named ? "whole" : "absent"] += 1;
      }
      for (const step of taken) rmSync(`${step.file}`);
      return seen;
    },
  };
}

/** A backup under its final name opens, is healthy, and holds everything that was acknowledged before it began. */
async function assertWhole(place: Place, step: Step, log: BatchLog, before: number, run: Run): Promise<void> {
  const home = mkdtempSync(join(place.folder, "restored-"));
  const database = join(home, "varve.db");
  const file = `${step.file}`;
  if (file.endsWith(".db")) copyFileSync(file, database);
  else await restoreBackup({ home, database }, file);
  const varve = await openVarve({ home, database, config: { store: { readers: 1 } } });
  try {
    const held = await messagesIn(varve, await varve.sessions.resolve(address));
    const since = run.done.filter((one) => "batch" in one).slice(0, Number(step.batches));
    const acknowledged = since.flatMap((one) => batchOf(place.seed, `${one.batch}`, fillMax)).length;
    assert.ok(
      held.length >= before + acknowledged,
      `${file} holds ${held.length} of ${before + acknowledged} messages`,
    );
    assertSameMessages(held, log.expected.slice(0, held.length), file);
    await assertHealthy(varve, file);
  } finally {
    await varve.close();
    rmSync(home, { recursive: true, force: true });
  }
}

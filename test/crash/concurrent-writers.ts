/** The work of processes that share one database: writers, a reader, an importer. */
import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { batchOf, markOf } from "./messages.ts";
import type { Operation } from "./operation.ts";
import { importing } from "./operations/import.ts";

const sharedKey = "agent:main:concurrent:direct:shared";
export const batchesOfWriter = 60;
export const batchMaxOfWriter = 12;

/** Half of the writers share one session, the others have their own. */
export function keyOfWriter(writer: number): string {
  return writer % 2 === 0 ? sharedKey : `agent:main:concurrent:direct:w${writer}`;
}

const verifier: Operation["verifier"] = () => {
  throw new Error("the test of many processes checks the whole database itself");
};

/** Writes its batches in order and ends. A later process goes on where the killed one was, with the same batches. */
const writer: Operation = {
  name: "writer",
  stepsMax: batchesOfWriter,
  async run({ place, child, open, step }) {
    const varve = await open();
    const { writer: number, from } = writerOf(child);
    const session = await varve.sessions.resolve({ key: keyOfWriter(number) });
    for (let index = from; index < batchesOfWriter; index += 1) {
      const batch = `w${number}-${index}`;
      const messages = batchOf(place.seed, batch, batchMaxOfWriter);
      await step({ batch, index }, () => varve.context.ingest(session, messages));
    }
    await varve.close();
  },
  verifier,
};

/** A writer's number and its first batch in one number, which is what a job can carry. */
export function childOf(writerNumber: number, from: number): number {
  return writerNumber * 1000 + from;
}

function writerOf(child: number): { writer: number; from: number } {
  return { writer: Math.floor(child / 1000), from: child % 1000 };
}

/** Reads the end of the shared session over and over: the newest batch it sees is always whole. */
const reader: Operation = {
  name: "reader",
  stepsMax: Number.POSITIVE_INFINITY,
  async run({ open, step }) {
    const varve = await open();
    const session = await varve.sessions.resolve({ key: sharedKey }, { interaction: false });
    for (;;) {
      const page = await step({ read: 1 }, () => varve.transcripts.read(session, { limit: 100 }));
      const messages = page.entries.flatMap((entry) => (entry.type === "message" ? [entry.message] : []));
      const last = messages.at(-1);
      const mark = last && markOf(last);
      if (mark) assert.equal(mark.index, mark.size - 1, `half of batch ${mark.batch} was seen`);
      await sleep(5);
    }
  },
  verifier,
};

export const concurrentWork: readonly Operation[] = [writer, reader, { ...importing, name: "importer" }];

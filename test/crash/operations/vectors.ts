import assert from "node:assert/strict";
import { Client } from "pg";
import { WordEmbedder } from "../../support/word-embedder.ts";
import { BatchLog, messagesIn } from "../log.ts";
import { batchOf } from "../messages.ts";
import type { Operation, Place } from "../operation.ts";

const address = { key: "agent:main:crash:direct:vectors" };

/** Vectors that an earlier version wrote as bytes only, and their conversion. SQLite has nothing to convert. */
export const vectors: Operation = {
  name: "vectors",
  stepsMax: 12,
  async run({ place, child, open, step }) {
    const varve = await open({ models: { embedder: new WordEmbedder() } });
    const session = await varve.sessions.resolve(address);
    for (let index = 0; ; index += 1) {
      const batch = `${child}-${index}`;
      await step({ batch }, () => varve.context.ingest(session, batchOf(place.seed, batch)));
      await step({ index }, () => varve.search.index());
      await step({ old: index }, () => query(place, "update entry_vectors set embedding = null where seq % 3 <> 0"));
      await step({ converted: index }, () => varve.search.maintainVectors());
    }
  },
  verifier(place) {
    const log = new BatchLog(place.seed);
    return {
      async check(varve, run) {
        const session = await varve.sessions.resolve(address);
        return log.check(await messagesIn(varve, session), run);
      },
      /** Every vector is in both forms in the end, and both are the same vector. */
      async finish(varve) {
        await varve.search.maintainVectors();
        const rows = await query(place, "select vector, embedding::text as embedding from entry_vectors");
        for (const { vector, embedding } of rows) {
          assertSameVector(JSON.parse(String(embedding)), new Int8Array(vector as Buffer));
        }
      },
    };
  },
};

/** Vectors that were not converted from bytes have larger numbers, whose rounding adds little to that of the bytes. */
function assertSameVector(numbers: readonly number[], bytes: Int8Array): void {
  assert.equal(numbers.length, bytes.length);
  const scale = 127 / (Math.max(...numbers.map(Math.abs)) || 1);
  const farthest = Math.max(...numbers.map((number, index) => Math.abs(number * scale - (bytes[index] as number))));
  assert.ok(farthest < 0.6, `${numbers} are not the numbers of ${bytes}`);
}

async function query(place: Place, statement: string): Promise<Record<string, unknown>[]> {
  if (place.kind === "sqlite") return [];
  const client = new Client({ connectionString: place.database });
  await client.connect();
  try {
    await client.query("select set_config('varve.agent', '*', false), set_config('varve.scopes', '*', false)");
    return (await client.query<Record<string, unknown>>(statement)).rows;
  } finally {
    await client.end();
  }
}

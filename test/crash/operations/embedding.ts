import assert from "node:assert/strict";
import { openVarve } from "../../../src/index.ts";
import { WordEmbedder } from "../../support/word-embedder.ts";
import { BatchLog, messagesIn } from "../log.ts";
import { batchOf } from "../messages.ts";
import type { Operation } from "../operation.ts";

const address = { key: "agent:main:crash:direct:embedding" };
const markOf = (child: number, index: number) => `The lantern ${child}.${index} hangs at gate ${index}${child}.`;

/** Messages and memories, and their vectors behind them. */
export const embedding: Operation = {
  name: "embedding",
  stepsMax: 9,
  async run({ place, child, open, step }) {
    const varve = await open({ models: { embedder: new WordEmbedder() } });
    const session = await varve.sessions.resolve(address);
    for (let index = 0; ; index += 1) {
      const batch = `${child}-${index}`;
      await step({ batch }, () => varve.context.ingest(session, batchOf(place.seed, batch)));
      await step({ memory: index }, () => varve.memory.add({ text: markOf(child, index), force: true }));
      await step({ index }, () => varve.search.index());
    }
  },
  verifier(place) {
    const log = new BatchLog(place.seed);
    return {
      async check(varve, run) {
        const session = await varve.sessions.resolve(address);
        return log.check(await messagesIn(varve, session), run);
      },
      /** Whatever was cut off is made up for, once, and everything is found by its meaning. */
      async finish(varve) {
        const { database, home } = place;
        const messages = (await varve.status()).messages;
        // A process that was killed holds its lease until its time is over, which this clock is far beyond.
        const clock = { now: () => Date.now() + 3_600_000 };
        const again = await openVarve({ home, database, clock, models: { embedder: new WordEmbedder() } });
        try {
          await again.search.index();
          const { vectors, memories, memoryVectors } = await again.search.coverage();
          assert.equal(memoryVectors, memories, "a memory has no vector");
          assert.ok(vectors <= messages, "a message has two vectors");
          assert.equal((await again.search.index()).embedded, 0, "there was still something to embed");
          const { total } = await again.memory.list({ limit: 1 });
          assert.equal(total, memories);
        } finally {
          await again.close();
        }
      },
    };
  },
};

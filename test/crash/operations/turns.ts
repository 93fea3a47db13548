import type { Message } from "../../../src/domain/index.ts";
import { BatchLog, messagesIn } from "../log.ts";
import { batchOf } from "../messages.ts";
import type { Operation } from "../operation.ts";

const addressOf = (child: number) => ({ key: `agent:main:crash:direct:turns-${child}` });

/**
 * Whole turns by their keys, some of them twice, with the work that they leave behind, and content that is moved aside:
 * the settings make every longer message large and every few turns due.
 */
export const turns: Operation = {
  name: "turns",
  stepsMax: 9,
  async run({ place, child, open, step }) {
    process.env.VARVE_CONTEXT_LARGE_FILE_TOKEN_THRESHOLD = "100";
    process.env.VARVE_CONTEXT_LEAF_CHUNK_TOKENS = "800";
    process.env.VARVE_CONTEXT_FRESH_TAIL_COUNT = "10";
    const varve = await open();
    const session = await varve.sessions.resolve(addressOf(child));
    for (let index = 0; ; index += 1) {
      const batch = `${child}-${index}`;
      const commit = () => varve.context.commitTurn(session, batch, batchOf(place.seed, batch));
      await step({ batch }, commit);
      if (index % 4 === 1 && (await commit()).status !== "duplicate") throw new Error(`${batch} was written twice`);
      if (index % 3 === 2) await step({ drain: index }, () => varve.jobs.drain());
    }
  },
  verifier(place) {
    const log = new BatchLog(place.seed);
    let children = 0;
    return {
      async check(varve, run) {
        children = Math.max(children, run.child);
        const messages: Message[] = [];
        for (let child = 0; child <= children; child += 1) {
          const session = await varve.sessions.resolve(addressOf(child));
          messages.push(...(await messagesIn(varve, session)));
        }
        return log.check(messages, run);
      },
    };
  },
};

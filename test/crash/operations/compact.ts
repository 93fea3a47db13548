import type { Message } from "../../../src/domain/index.ts";
import { BatchLog, messagesIn } from "../log.ts";
import { batchOf } from "../messages.ts";
import type { Operation } from "../operation.ts";

const budgetTokens = 1_500;

/** Every process has a session of its own: a sweep that was killed holds its conversation until its lease ends. */
const addressOf = (child: number) => ({ key: `agent:main:crash:direct:compact-${child}` });

/** Batches, and sweeps in between. The doctor looks at every summary after each kill. */
export const compact: Operation = {
  name: "compact",
  stepsMax: 9,
  async run({ place, child, open, step }) {
    const varve = await open();
    const session = await varve.sessions.resolve(addressOf(child));
    for (let index = 0; ; index += 1) {
      const batch = `${child}-${index}`;
      await step({ batch }, () => varve.context.ingest(session, batchOf(place.seed, batch)));
      if (index % 3 === 2) await step({ compact: index }, () => varve.context.compact(session, { budgetTokens }));
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

import type { Session, Varve } from "../../../src/index.ts";
import { BatchLog, messagesIn } from "../log.ts";
import { batchOf } from "../messages.ts";
import type { Operation, Verifier } from "../operation.ts";

const address = { key: "agent:main:crash:direct:ingest" };

function logVerifier(seed: number, sizeMax?: number): Verifier {
  const log = new BatchLog(seed, sizeMax);
  return { check: async (varve, run) => log.check(await messagesIn(varve, await openSession(varve)), run) };
}

function openSession(varve: Varve): Promise<Session> {
  return varve.sessions.resolve(address);
}

/** Batch after batch, each of up to 40 messages. */
export const ingest: Operation = {
  name: "ingest",
  stepsMax: 30,
  async run({ place, child, open, step }) {
    const varve = await open();
    const session = await openSession(varve);
    for (let index = 0; ; index += 1) {
      const batch = `${child}-${index}`;
      await step({ batch }, () => varve.context.ingest(session, batchOf(place.seed, batch)));
    }
  },
  verifier: (place) => logVerifier(place.seed),
};

const inFlight = 4;

/** One message a call, several calls under way at once. */
export const ingestSingle: Operation = {
  name: "ingest-single",
  stepsMax: 40,
  async run({ place, child, open, step }) {
    const varve = await open();
    const session = await openSession(varve);
    const underWay: Promise<unknown>[] = [];
    for (let index = 0; ; index += 1) {
      const batch = `${child}-${index}`;
      underWay.push(step({ batch }, () => varve.context.ingest(session, batchOf(place.seed, batch, 1))));
      if (underWay.length === inFlight) await underWay.shift();
    }
  },
  verifier: (place) => logVerifier(place.seed, 1),
};

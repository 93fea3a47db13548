/**
 * A process to be killed. It loads everything, waits for a line that says what to do, and writes one line when a step
 * begins and one when its promise has resolved. The lines are written synchronously: what the parent reads is what
 * the caller of the engine knew when it died.
 */
import { writeSync } from "node:fs";
import { createInterface } from "node:readline";
import { openVarve } from "../../src/engine.ts";
import { rngOf } from "../support/rng.ts";
import { crowd } from "./crowd.ts";
import type { Place, Worker } from "./operation.ts";
import { operations } from "./operations.ts";

export interface Job {
  operation: string;
  child: number;
  place: Place;
}

function say(line: unknown): void {
  writeSync(1, `${JSON.stringify(line)}\n`);
}

function workerFor({ place, child }: Job): Worker {
  let steps = 0;
  return {
    place,
    child,
    random: rngOf(place.seed, "child", child),
    open: (options) =>
      openVarve({
        home: place.home,
        database: place.database,
        // The model that comes with the package is no part of the bundle; who needs vectors brings their maker.
        config: { store: { readers: 1, cacheMiB: 8 }, import: { batchSize: 25 }, search: { embedder: "none" } },
        ...options,
      }),
    async step(step, work, facts) {
      steps += 1;
      const number = steps;
      say({ begin: number, step });
      const value = await work();
      say({ done: number, step: { ...step, ...facts?.(value) } });
      return value;
    },
    acknowledge: (step) => say({ done: null, step }),
  };
}

const lines = createInterface({ input: process.stdin });
lines.once("line", (text) => {
  const job = JSON.parse(text) as Job;
  const operation = [...operations, ...crowd].find((one) => one.name === job.operation);
  if (!operation) throw new Error(`there is no operation ${job.operation}`);
  operation.run(workerFor(job)).then(
    () => process.exit(0),
    (error: unknown) => {
      console.error(error);
      process.exit(1);
    },
  );
});
// A parent that is gone needs no children.
lines.once("close", () => process.exit(2));
say({ ready: true });

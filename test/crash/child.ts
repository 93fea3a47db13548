/**
 * A process to be killed. It loads everything, waits for a line that says what to do, and writes one line when a step
 * begins and one when its promise has resolved. The lines are written synchronously: what the parent reads is what
 * the caller of the engine knew when it died.
 */
import { writeSync } from "node:fs";
import { createInterface } from "node:readline";
import { openVarve, type StoreTap } from "../../src/index.ts";
import { rngOf } from "../support/rng.ts";
import { concurrentWork } from "./concurrent-writers.ts";
import type { KillPoint, Place, Worker } from "./operation.ts";
import { operations } from "./operations.ts";

export interface Job {
  operation: string;
  child: number;
  place: Place;
  /** Absent for a process that works to its end, or until the parent kills it at an instant of its own choice. */
  killPoint?: KillPoint;
}

function say(line: unknown): void {
  writeSync(1, `${JSON.stringify(line)}\n`);
}

function killSelf(): void {
  process.kill(process.pid, "SIGKILL");
}

const forever = new Promise<never>(() => undefined);

/** Kills this process at a call to the store, once the step with that call has begun. */
class KillTap implements StoreTap {
  private point: Extract<KillPoint, { at: "call" }> | undefined;
  private calls = 0;

  arm(point: Extract<KillPoint, { at: "call" }>): void {
    this.point = point;
  }

  before(): void {
    this.calls += this.point ? 1 : 0;
    this.killIf("before");
  }

  after(): void {
    this.killIf("after");
  }

  private killIf(when: "before" | "after"): void {
    if (this.point?.when === when && this.calls >= this.point.call) killSelf();
  }
}

function workerFor({ place, child, killPoint }: Job): Worker {
  const tap = new KillTap();
  let steps = 0;
  let isSilent = false;
  return {
    place,
    child,
    tap,
    random: rngOf(place.seed, "child", child),
    open: ({ config, ...options } = {}) =>
      openVarve({
        home: place.home,
        database: place.database,
        // The model that comes with the package is no part of the bundle; who needs vectors brings their maker.
        config: {
          store: { readers: 1, cacheMiB: 8, busyTimeoutMs: 600_000 },
          import: { batchSize: 25 },
          search: { embedder: "none" },
          ...config,
        },
        tap,
        ...options,
      }),
    async step(step, work, facts) {
      if (killPoint?.at === "opening") {
        say({ opened: true });
        return forever;
      }
      steps += 1;
      const number = steps;
      const isLast = number === killPoint?.step;
      if (isLast && killPoint?.at === "call") tap.arm(killPoint);
      say({ begin: number, step });
      const value = await work();
      if (isLast && killPoint?.at !== "instant") killSelf();
      // Nothing is acknowledged once the last step is over, neither this step nor one that was under way with it.
      isSilent ||= isLast;
      if (isSilent) return forever;
      say({ done: number, step: { ...step, ...facts?.(value) } });
      return value;
    },
    acknowledge: (step) => say({ done: null, step }),
  };
}

const lines = createInterface({ input: process.stdin });
lines.once("line", (text) => {
  const job = JSON.parse(text) as Job;
  const operation = [...operations, ...concurrentWork].find((one) => one.name === job.operation);
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

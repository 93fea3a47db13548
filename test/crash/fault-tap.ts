/** A store that fails on purpose: the n-th call of a step, before it reaches the engine or after it has happened. */
import { type ErrorCode, VarveError } from "../../src/domain/index.ts";
import type { StoreTap } from "../../src/index.ts";

export interface Fault {
  name: string;
  code: ErrorCode;
  when: "before" | "after";
  /** Every later call fails too, the rollback included, until the fault is repaired. */
  lasting?: boolean;
}

/** A call that happened and is reported as failed is never "busy": that would say that it can be tried again. */
export const faults: readonly Fault[] = [
  { name: "an I/O error", code: "STORE_IO", when: "before" },
  { name: "a full disk", code: "STORE_FULL", when: "before" },
  { name: "a busy database", code: "STORE_BUSY", when: "before" },
  { name: "an I/O error that lasts", code: "STORE_IO", when: "before", lasting: true },
  { name: "an I/O error after the call had happened", code: "STORE_IO", when: "after" },
];

export class FaultTap implements StoreTap {
  private calls = 0;
  private armed: { fault: Fault; at: number } | undefined;
  /** Whether a call was made to fail since it was armed. One that the database itself refuses does not happen. */
  hasFailed = false;

  /** Counts from here on, and fails the `at`-th call. */
  arm(fault: Fault, at: number): void {
    this.calls = 0;
    this.hasFailed = false;
    this.armed = { fault, at };
  }

  /** Counts from here on without failing. */
  reset(): void {
    this.calls = 0;
    this.armed = undefined;
  }

  get count(): number {
    return this.calls;
  }

  before(): void {
    this.calls += 1;
    this.failIf("before");
  }

  after(): void {
    this.failIf("after");
  }

  private failIf(when: Fault["when"]): void {
    if (!this.armed || this.armed.fault.when !== when) return;
    const { fault, at } = this.armed;
    if (this.calls === at || (fault.lasting && this.calls > at)) {
      this.hasFailed = true;
      throw new VarveError(fault.code, `The test made call ${this.calls} fail.`, { details: { injected: true } });
    }
  }
}

import { createHistogram } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";

const tickMs = 1;

/** The delay of the event loop over several measured sections, as one distribution. */
export class EventLoopWatch {
  private readonly lateUs = createHistogram();
  private timer: NodeJS.Timeout | undefined;

  /** Delays before a section are not counted: the baseline runs on this thread. */
  async start(): Promise<void> {
    await sleep(tickMs);
    let last = performance.now();
    this.timer = setInterval(() => {
      const now = performance.now();
      this.lateUs.record(Math.max(1, Math.round((now - last - tickMs) * 1000)));
      last = now;
    }, tickMs);
  }

  stop(): void {
    clearInterval(this.timer);
  }

  /** In milliseconds. */
  percentile(share: number): number {
    return this.lateUs.percentile(share) / 1000;
  }
}

/** Counts events, and lets a test wait for a number of them instead of for a time. */
export class Counter {
  #count = 0;
  readonly #waiting = new Set<{ count: number; resolve: () => void }>();

  get count(): number {
    return this.#count;
  }

  add(): void {
    this.#count += 1;
    for (const one of this.#waiting) if (this.#count >= one.count) one.resolve();
  }

  /** Resolves once there have been so many events. */
  async until(count: number): Promise<void> {
    if (this.#count >= count) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const waiting = { count, resolve };
    this.#waiting.add(waiting);
    await promise;
    this.#waiting.delete(waiting);
  }
}

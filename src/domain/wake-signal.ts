/** Lets a loop sleep until a timeout or a wake-up. A wake-up while nobody waits ends the next wait immediately. */
export class WakeSignal {
  #wake: (() => void) | undefined;
  #isWoken = false;

  wake(): void {
    this.#isWoken = true;
    this.#wake?.();
  }

  /** Returns true when woken, false on timeout. With `ref: false` the wait does not keep the process alive. */
  async wait(ms: number, { ref = true } = {}): Promise<boolean> {
    if (!this.#isWoken) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms);
        if (!ref) timer.unref();
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      this.#wake = undefined;
    }
    const woken = this.#isWoken;
    this.#isWoken = false;
    return woken;
  }
}

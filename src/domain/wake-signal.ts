/** Somebody waits for a while, or until it rings. What rings while nobody waits ends the next wait at once. */
export class WakeSignal {
  #wake: (() => void) | undefined;
  #rung = false;

  wake(): void {
    this.#rung = true;
    this.#wake?.();
  }

  /** True when it rang. With `ref` off the wait alone keeps no program alive. */
  async wait(ms: number, { ref = true } = {}): Promise<boolean> {
    if (!this.#rung) {
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
    const rung = this.#rung;
    this.#rung = false;
    return rung;
  }
}

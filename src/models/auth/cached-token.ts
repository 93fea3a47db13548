import type { Clock } from "../../domain/index.ts";
import { untilAborted } from "../wait.ts";
import type { Token, TokenSource } from "./port.ts";

/** After a failure nothing is asked for this long: what is down or locked is not to be asked by every request. */
const restMs = 10_000;
/** A token that is refused so soon after it replaced a refused one is refused for another reason. */
const againMs = 60_000;

/** Keeps a token as long as it holds. Whoever needs another one at the same time waits for the same. */
export class CachedToken implements TokenSource {
  readonly #make: (refused: string | undefined) => Promise<Token>;
  readonly #clock: Clock;
  #current: Token | undefined;
  #making: Promise<Token> | undefined;
  #failed: { until: number; error: unknown } | undefined;
  #renewed: { value: string; at: number } | undefined;

  constructor(make: (refused: string | undefined) => Promise<Token>, clock: Clock) {
    this.#make = make;
    this.#clock = clock;
  }

  async token(signal?: AbortSignal): Promise<string> {
    const current = this.#current;
    if (current !== undefined && this.#clock.now() < (current.renewAt ?? Number.POSITIVE_INFINITY)) {
      return current.value;
    }
    try {
      return (await this.#another(undefined, signal)).value;
    } catch (error) {
      signal?.throwIfAborted();
      // It was asked for ahead of time: the old one is still good.
      if (current?.expiresAt !== undefined && this.#clock.now() < current.expiresAt) return current.value;
      throw error;
    }
  }

  async renew(refused: string, signal?: AbortSignal): Promise<string | undefined> {
    const current = this.#current;
    if (current !== undefined && current.value !== refused) return current.value;
    const now = this.#clock.now();
    if (this.#renewed?.value === refused && now - this.#renewed.at < againMs) return undefined;
    const { value } = await this.#another(refused, signal);
    if (value === refused) return undefined;
    this.#renewed = { value, at: now };
    return value;
  }

  /** One caller that gives up must not take the token from the others: the making goes on without it. */
  async #another(refused: string | undefined, signal: AbortSignal | undefined): Promise<Token> {
    if (this.#making !== undefined) {
      const made = await waited(this.#making, signal);
      // What was being made may still be the one that was refused.
      if (made.value !== refused) return made;
    }
    if (this.#failed !== undefined && this.#clock.now() < this.#failed.until) throw this.#failed.error;
    this.#making ??= this.#makeOnce(refused).finally(() => {
      this.#making = undefined;
    });
    return waited(this.#making, signal);
  }

  async #makeOnce(refused: string | undefined): Promise<Token> {
    try {
      this.#current = await this.#make(refused);
      this.#failed = undefined;
      return this.#current;
    } catch (error) {
      this.#failed = { until: this.#clock.now() + restMs, error };
      throw error;
    }
  }
}

function waited<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  return signal === undefined ? promise : untilAborted(promise, signal);
}

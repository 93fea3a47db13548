import type { Clock } from "../../domain/index.ts";
import { rejectOnAbort } from "../wait.ts";
import type { Token, TokenSource } from "./port.ts";

/** After a failure no token is requested for this long, so that not every request hits a server that is down. */
const pauseMs = 10_000;
/** A token rejected this soon after it replaced a rejected one is rejected for another reason. */
const repeatedRejectionMs = 60_000;

/** Caches a token while it is valid. Concurrent callers share one request for a new one. */
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
      // Renewal starts ahead of time: the old token is still valid.
      if (current?.expiresAt !== undefined && this.#clock.now() < current.expiresAt) return current.value;
      throw error;
    }
  }

  async renew(refused: string, signal?: AbortSignal): Promise<string | undefined> {
    const current = this.#current;
    if (current !== undefined && current.value !== refused) return current.value;
    const now = this.#clock.now();
    if (this.#renewed?.value === refused && now - this.#renewed.at < repeatedRejectionMs) return undefined;
    const { value } = await this.#another(refused, signal);
    if (value === refused) return undefined;
    this.#renewed = { value, at: now };
    return value;
  }

  /** The request continues when one caller gives up, because others may wait for it. */
  async #another(refused: string | undefined, signal: AbortSignal | undefined): Promise<Token> {
    if (this.#making !== undefined) {
      const made = await waitFor(this.#making, signal);
      // The request in progress may return the same token that was rejected.
      if (made.value !== refused) return made;
    }
    if (this.#failed !== undefined && this.#clock.now() < this.#failed.until) throw this.#failed.error;
    this.#making ??= this.#makeOnce(refused).finally(() => {
      this.#making = undefined;
    });
    return waitFor(this.#making, signal);
  }

  async #makeOnce(refused: string | undefined): Promise<Token> {
    try {
      this.#current = await this.#make(refused);
      this.#failed = undefined;
      return this.#current;
    } catch (error) {
      this.#failed = { until: this.#clock.now() + pauseMs, error };
      throw error;
    }
  }
}

function waitFor<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  return signal === undefined ? promise : rejectOnAbort(promise, signal);
}

/** Where time comes from. Tests inject one that they move by hand. */
export interface Clock {
  /** Milliseconds since 1970, UTC. */
  now(): number;
}

/** Where randomness comes from. Tests inject a seeded one, so that ids are the same on every run. */
export interface Random {
  bytes(count: number): Uint8Array;
}

export const systemClock: Clock = { now: () => Date.now() };
export const systemRandom: Random = { bytes: (count) => globalThis.crypto.getRandomValues(new Uint8Array(count)) };

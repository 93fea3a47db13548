/** Chance that can be repeated: the same seed gives the same numbers. */
export interface Rng {
  /** From 0 up to, and without, 1. */
  next(): number;
  /** A whole number from `min` to `max`, both included. */
  int(min: number, max: number): number;
  pick<T>(values: readonly T[]): T;
}

export function rngOf(...seed: (string | number)[]): Rng {
  let state = 0x811c9dc5;
  for (const char of seed.join("/")) state = Math.imul(state ^ char.charCodeAt(0), 0x01000193);
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  const int = (min: number, max: number) => min + Math.floor(next() * (max - min + 1));
  return { next, int, pick: (values) => values[int(0, values.length - 1)]! };
}

/** The seed of this run: printed, and taken from `VARVE_TEST_SEED` to repeat one. */
export function seedOfRun(): number {
  const given = Number(process.env.VARVE_TEST_SEED);
  return Number.isInteger(given) && given > 0 ? given : Math.floor(Math.random() * 1_000_000) + 1;
}

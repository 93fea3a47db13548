export interface BenchResult {
  name: string;
  /** How many messages the database holds. */
  size: number;
  value: number;
  unit: string;
  /** The value as a share of the baseline of the same run. */
  ratio?: number;
}

/** Three places are more than the noise of a machine leaves meaning in. */
export function round(value: number): number {
  return Math.round(value * 1000) / 1000;
}

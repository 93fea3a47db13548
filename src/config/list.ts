import { valueAt } from "./explain.ts";
import { printSource } from "./faults.ts";
import type { LoadedConfig } from "./load.ts";
import { settings } from "./settings.ts";

/** One line of `varve config list`. */
export interface ConfigRow {
  key: string;
  variable: string;
  /** As it may be shown: secrets are masked. */
  value: unknown;
  /** `env VARVE_X`, `file PATH:LINE`, `option` or `default`. */
  source: string;
  default: unknown;
  description: string;
  /** Whether something in the value is masked when there is something to mask. */
  secret: boolean;
}

export function listConfig({ config, sources }: LoadedConfig): ConfigRow[] {
  return settings.map(({ key, path, variable, description, defaultValue, mask }) => {
    const value = valueAt(config, path);
    return {
      key,
      variable,
      value: mask === undefined ? value : mask(value),
      source: printSource(sources.get(key) ?? { kind: "default" }),
      default: defaultValue,
      description,
      secret: mask !== undefined,
    };
  });
}

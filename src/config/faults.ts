import { VarveError } from "../domain/index.ts";

/** Where a value came from. */
export type ConfigSource =
  | { kind: "default" }
  | { kind: "option" }
  | { kind: "env"; variable: string }
  | { kind: "file"; path: string; line: number };

/** One thing that is wrong with the settings. */
export interface ConfigFault {
  /** The setting, as far as one can be told. */
  key?: string;
  source: ConfigSource;
  /** Counted from 1, for faults of syntax. */
  column?: number;
  /** What is wrong, what was given, and what is allowed. */
  message: string;
}

export function printSource(source: ConfigSource): string {
  if (source.kind === "env") return `env ${source.variable}`;
  return source.kind === "file" ? `file ${source.path}:${source.line}` : source.kind;
}

export function printFault({ source, column, message }: ConfigFault): string {
  if (source.kind === "env") return `${source.variable}: ${message}`;
  if (source.kind !== "file") return `${source.kind}: ${message}`;
  return `${source.path}:${source.line}${column === undefined ? "" : `:${column}`}: ${message}`;
}

/** All faults in one error: whoever has to mend them wants to do it once. */
export function configError(faults: readonly ConfigFault[], remedy: string): VarveError {
  const head = faults.length === 1 ? "A setting is wrong." : `${faults.length} settings are wrong.`;
  return new VarveError("BAD_CONFIG", [head, ...faults.map((fault) => `  ${printFault(fault)}`)].join("\n"), {
    remedy,
    details: { faults },
  });
}

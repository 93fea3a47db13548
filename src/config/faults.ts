import { VarveError } from "../domain/index.ts";

/** The source of a value. */
export type ConfigSource =
  | { kind: "default" }
  | { kind: "option" }
  | { kind: "env"; variable: string }
  | { kind: "file"; path: string; line: number };

/** One error or warning about the settings. */
export interface ConfigFault {
  /** The setting, if it can be identified. */
  key?: string;
  source: ConfigSource;
  /** Starts at 1; for syntax errors. */
  column?: number;
  /** The fault, the given value, and the allowed values. */
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

/** Collects all faults in one error, so that they can be corrected at once. */
export function configError(faults: readonly ConfigFault[], remedy: string): VarveError {
  const head = faults.length === 1 ? "A setting is invalid." : `${faults.length} settings are invalid.`;
  return new VarveError("BAD_CONFIG", [head, ...faults.map((fault) => `  ${printFault(fault)}`)].join("\n"), {
    remedy,
    details: { faults },
  });
}

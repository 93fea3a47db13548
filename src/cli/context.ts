import { type OpenOptions, openVarve, type Varve } from "../index.ts";
import { auditCommand } from "./command-audit.ts";
import { type Output, outputFor } from "./output.ts";

/** Options that every command has. */
export interface CommonOptions {
  home?: string;
  database?: string;
  agent?: string;
  json?: boolean;
}

export function openOptions(options: CommonOptions): OpenOptions {
  return {
    home: options.home,
    database: options.database,
    config: options.agent === undefined ? undefined : { agent: options.agent },
    // Pending jobs are left to the gateway and to `varve maintain`.
    background: false,
  };
}

/** Opens the engine, runs a command with it, and closes it even when the command fails. */
export async function withVarve<T>(
  options: CommonOptions,
  work: (varve: Varve, output: Output) => Promise<T>,
  more: Pick<OpenOptions, "willSearch" | "isShortLived"> = {},
): Promise<T> {
  const varve = await openVarve({ ...openOptions(options), ...more });
  printWarnings(varve);
  try {
    return await auditCommand(varve, () => work(varve, outputFor(options)));
  } finally {
    await varve.close();
  }
}

/** Prints what the settings should be changed to, on standard error. */
export function printWarnings({ settings }: Pick<Varve, "settings">): void {
  for (const warning of settings.warnings) process.stderr.write(`varve: warning: ${warning}\n`);
}

/** Returns a signal that fires on the first Ctrl-C; the second Ctrl-C exits at once. */
export function listenForInterrupt(): AbortSignal {
  const controller = new AbortController();
  process.once("SIGINT", () => {
    process.stderr.write("\nStopping… (press Ctrl-C again to stop at once)\n");
    process.once("SIGINT", () => process.exit(130));
    controller.abort();
  });
  process.once("SIGTERM", () => controller.abort());
  return controller.signal;
}

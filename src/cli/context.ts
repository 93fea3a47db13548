import { type OpenOptions, openVarve, type Varve } from "../engine.ts";
import { type Output, outputFor } from "./output.ts";

/** The options every command takes. */
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
    // A command does what it was asked for and ends; what waits is for the gateway.
    background: false,
  };
}

/** Runs a command with the engine open, and closes it whatever happens. */
export async function withVarve<T>(
  options: CommonOptions,
  work: (varve: Varve, output: Output) => Promise<T>,
  more: Pick<OpenOptions, "willSearch"> = {},
): Promise<T> {
  const varve = await openVarve({ ...openOptions(options), ...more });
  printWarnings(varve);
  try {
    return await work(varve, outputFor(options));
  } finally {
    await varve.close();
  }
}

/** Prints what the settings should be changed to, on standard error. */
export function printWarnings({ settings }: Pick<Varve, "settings">): void {
  for (const warning of settings.warnings) process.stderr.write(`varve: warning: ${warning}\n`);
}

/** A signal that fires on the first Ctrl-C; the second one ends the program at once. */
export function interruptible(): AbortSignal {
  const controller = new AbortController();
  process.once("SIGINT", () => {
    process.stderr.write("\nStopping… (Ctrl-C again to stop at once)\n");
    process.once("SIGINT", () => process.exit(130));
    controller.abort();
  });
  process.once("SIGTERM", () => controller.abort());
  return controller.signal;
}

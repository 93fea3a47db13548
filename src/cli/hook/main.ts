/** The entry point of `varve hook`, separate from the other commands so that a hook loads very little code. */
import { parseArgs } from "node:util";
import { runHook } from "./run-hook.ts";

const option = { type: "string" } as const;
const { positionals, values } = parseArgs({
  args: process.argv.slice(3),
  options: { home: option, database: option, agent: option, deadline: option, json: { type: "boolean" } },
  allowPositionals: true,
  // A newer plugin may pass flags that this version does not know.
  strict: false,
});
const text = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);
await runHook(positionals[0] ?? "", {
  home: text(values.home),
  database: text(values.database),
  agent: text(values.agent),
  deadline: Number(text(values.deadline)) || undefined,
});

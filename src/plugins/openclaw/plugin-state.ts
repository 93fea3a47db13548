import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { writeAtomically } from "../../config/index.ts";

const stateSchema = z.object({
  /** The process of OpenClaw that opened the memory last. */
  pid: z.number(),
  version: z.string(),
  openedAt: z.number(),
  /** The last thing that went wrong there. */
  failure: z.object({ time: z.number(), text: z.string() }).optional(),
});
export type PluginState = z.output<typeof stateSchema>;

/** Written by the plugin and read by `varve doctor`; nothing else depends on it. */
function getStateFile(home: string): string {
  return join(home, "plugins", "openclaw.json");
}

export function writePluginState(home: string, state: PluginState): void {
  writeAtomically(getStateFile(home), `${JSON.stringify(state)}\n`);
}

/** Undefined before OpenClaw has loaded the plugin and run a turn. */
export function readPluginState(home: string): PluginState | undefined {
  try {
    const parsed = stateSchema.safeParse(JSON.parse(readFileSync(getStateFile(home), "utf8")));
    return parsed.success ? parsed.data : undefined;
  } catch (error) {
    if (error instanceof SyntaxError || (error instanceof Error && "code" in error && error.code === "ENOENT")) {
      return undefined;
    }
    throw error;
  }
}

import { z } from "zod";
import { VarveError } from "../../domain/index.ts";

const schema = z.strictObject({
  /** Varve's home; `VARVE_HOME` or `~/.varve` when absent. */
  home: z.string().min(1).optional(),
  /** An SQLite file or a `postgres://` address. */
  database: z.string().min(1).optional(),
  /** Who writes summaries: Varve as its own settings say, or the model of the OpenClaw session. */
  summaries: z.enum(["varve", "host"]).default("varve"),
  /** Whether OpenClaw asks its model to store lasting facts before a context is full. */
  memoryFlush: z.boolean().default(false),
});

export type PluginSettings = z.output<typeof schema>;

/** The settings in `plugins.entries.varve.config` of OpenClaw. */
export function parsePluginSettings(value: unknown): PluginSettings {
  const parsed = schema.safeParse(value ?? {});
  if (parsed.success) return parsed.data;
  const faults = parsed.error.issues.map((issue) => `${issue.path.join(".") || "config"}: ${issue.message}`);
  throw new VarveError("BAD_CONFIG", `plugins.entries.varve.config is wrong: ${faults.join("; ")}.`, {
    remedy: "It may have home, database, summaries (varve or host) and memoryFlush (true or false).",
  });
}

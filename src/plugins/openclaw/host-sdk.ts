import type { HostSdk } from "./host-types.ts";
import { getSharedState } from "./shared-engine.ts";

const functionNames = ["readSessionTranscriptRawDelta", "buildMemorySystemPromptAddition"] as const;

/** Loads the functions through the plugin's entry: only there OpenClaw's package can be resolved. */
export async function loadHostSdk(): Promise<HostSdk> {
  const { loadSdk } = getSharedState();
  const sdk = await loadSdk?.();
  const missing = functionNames.filter((name) => typeof sdk?.[name] !== "function");
  if (sdk !== undefined && missing.length === 0) return sdk;
  throw new Error(`OpenClaw does not offer ${missing.join(", ")}. Use OpenClaw 2026.9.6 or newer.`);
}

/**
 * The entry that OpenClaw loads. OpenClaw runs a copy of this file alone, so the rest of Varve is loaded from the folder
 * it was installed in, and OpenClaw's own package, which only this file can resolve, is handed over.
 */
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { definePluginEntry } from "openclaw/plugin-sdk/plugin-entry";

async function loadHostSdk() {
  const [transcripts, core] = await Promise.all([
    import("openclaw/plugin-sdk/session-transcript-runtime"),
    import("openclaw/plugin-sdk/core"),
  ]);
  return { ...transcripts, ...core };
}

// biome-ignore lint/style/noDefaultExport: OpenClaw reads the default export of a plugin.
export default definePluginEntry({
  id: "varve",
  name: "Varve",
  description: "A memory that loses nothing: context engine, long-term memory and recall tools.",
  register(api) {
    const folder = api.rootDir ?? dirname(api.source);
    const program = join(folder, "..", "..", "dist", "plugins", "openclaw", "register.js");
    // Registration is synchronous, and so is `require`, also for modules.
    createRequire(program)(program).registerVarve(api, loadHostSdk);
  },
});

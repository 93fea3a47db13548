import { isJsonObject } from "../../domain/index.ts";
import { createContextEngine, engineId } from "./context-engine.ts";
import type { HostSdk, PluginApi } from "./host-types.ts";
import { createMemoryCapability } from "./memory-capability.ts";
import { parsePluginSettings } from "./plugin-settings.ts";
import { registerRecallHooks } from "./recall-hooks.ts";
import { closeSharedEngine, getSharedState } from "./shared-engine.ts";
import type { FindParent } from "./subagents.ts";
import { createTools, toolNames } from "./tools.ts";

/**
 * Registers everything with OpenClaw. It opens nothing: OpenClaw registers plugins several times in one process, also
 * only to list what they offer.
 */
export function registerVarve(api: PluginApi, loadSdk: () => Promise<HostSdk>): void {
  getSharedState().loadSdk = loadSdk;
  const settings = parsePluginSettings(api.pluginConfig);
  const { logger } = api;
  const findParent: FindParent = (agentId, sessionKey) => {
    const entry = api.runtime?.agent?.session?.getSessionEntry?.({ agentId, sessionKey });
    const parent = isJsonObject(entry) ? (entry.spawnedBy ?? entry.parentSessionKey) : undefined;
    return typeof parent === "string" ? parent : undefined;
  };
  api.registerContextEngine(engineId, ({ agentDir }) =>
    createContextEngine({ settings, logger, agentDir, findParent }),
  );
  api.registerMemoryCapability(createMemoryCapability(settings, logger));
  api.registerTool((context) => createTools(settings, context, findParent), { names: toolNames });
  api.registerService?.({ id: "varve", start: () => undefined, stop: closeSharedEngine });
  if (!holdsContextSlot(api)) registerRecallHooks(api, settings);
}

/** Whether Varve assembles the context. Otherwise it brings memories to another engine's prompts. */
function holdsContextSlot({ config }: PluginApi): boolean {
  const plugins = isJsonObject(config) && isJsonObject(config.plugins) ? config.plugins : {};
  return isJsonObject(plugins.slots) && plugins.slots.contextEngine === engineId;
}

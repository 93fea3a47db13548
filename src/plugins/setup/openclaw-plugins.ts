/** Takes over data from plugins of OpenClaw that Varve replaces. Their data and their settings stay as they are. */
import { isAbsolute, join } from "node:path";
import { isJsonObject, type JsonObject, type JsonValue, VarveError } from "../../domain/index.ts";

export const replacedPlugins = ["lossless-claw", "memory-lancedb-pro"] as const;
export type ReplacedPlugin = (typeof replacedPlugins)[number];

/** A setting of Varve that has the value of an equal one. */
export interface TakenSetting {
  key: string;
  value: string;
  from: string;
}

/** Settings of lossless-claw that have the same name and meaning in Varve. */
const contextSettings = [
  "contextThreshold",
  "freshTailCount",
  "freshTailMaxTokens",
  "leafChunkTokens",
  "leafTargetTokens",
  "condensedTargetTokens",
  "leafMinFanout",
  "condensedMinFanout",
  "condensedMinFanoutHard",
  "incrementalMaxDepth",
  "newSessionRetainDepth",
  "summaryMaxOverageFactor",
  "maxAssemblyTokenBudget",
  "customInstructions",
  "ignoreSessionPatterns",
  "statelessSessionPatterns",
  "skipStatelessSessions",
];
const equalSettings: Record<ReplacedPlugin, Record<string, string>> = {
  "lossless-claw": {
    ...Object.fromEntries(contextSettings.map((name) => [name, `context.${name}`])),
    largeFileThresholdTokens: "context.largeFileTokenThreshold",
  },
  "memory-lancedb-pro": {
    autoCapture: "memory.extract",
    autoRecall: "memory.recall",
    autoRecallMaxItems: "memory.recallMaxItems",
  },
};
/** Where each of them names another place for its data. */
const dataSettings: Record<ReplacedPlugin, string[]> = {
  "lossless-claw": ["dbPath", "databasePath"],
  "memory-lancedb-pro": ["dbPath"],
};

/** The names in `--from`. */
export function parseReplacedPlugins(names: string | undefined): ReplacedPlugin[] {
  const wanted = (names ?? "")
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
  return wanted.map((name) => {
    const known = replacedPlugins.find((one) => one === name);
    if (known !== undefined) return known;
    throw new VarveError("BAD_REQUEST", `--from ${JSON.stringify(name)} is not a plugin that can be taken over.`, {
      remedy: `Name one or both of ${replacedPlugins.join(",")}.`,
    });
  });
}

/** The settings and data of a plugin, from its entry in OpenClaw's configuration. */
export function readReplacedPlugin(
  plugin: ReplacedPlugin,
  config: JsonValue | undefined,
  userHome: string,
): { settings: TakenSetting[]; paths: string[] } {
  const given: JsonObject = isJsonObject(config) ? config : {};
  const settings = Object.entries(equalSettings[plugin]).flatMap(([name, key]): TakenSetting[] => {
    const value = given[name];
    if (value === undefined || value === null) return [];
    return [{ key, value: typeof value === "string" ? value : JSON.stringify(value), from: `${plugin}: ${name}` }];
  });
  const paths = dataSettings[plugin].flatMap((name) => {
    const path = given[name];
    if (typeof path !== "string" || path === "") return [];
    const whole = path.replace(/^~(?=[\\/]|$)/, userHome);
    return [isAbsolute(whole) ? whole : join(userHome, whole)];
  });
  return { settings, paths };
}

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { packageFolder } from "../../version.ts";
import { parsePluginSettings } from "./plugin-settings.ts";
import { toolNames } from "./tools.ts";
import { roundBudget } from "./view.ts";

const manifest = JSON.parse(readFileSync(join(packageFolder, "plugins/openclaw/openclaw.plugin.json"), "utf8")) as {
  kind: string[];
  contracts: { tools: string[] };
  configSchema: { properties: Record<string, unknown> };
};

test("the manifest lists every tool and setting", () => {
  expect(manifest.contracts.tools).toEqual(toolNames);
  expect(manifest.kind.toSorted()).toEqual(["context-engine", "memory"]);
  const settings = { home: "/a", database: "/b", summaries: "host", memoryFlush: true };
  expect(Object.keys(manifest.configSchema.properties)).toEqual(Object.keys(settings));
  expect(parsePluginSettings(settings)).toEqual(settings);
  expect(parsePluginSettings(undefined)).toEqual({ summaries: "varve", memoryFlush: false });
  expect(() => parsePluginSettings({ home: 1, model: "x" })).toThrow("plugins.entries.varve.config is wrong");
});

test("budgets that differ by a few tokens give the same view", () => {
  expect(roundBudget(24_000)).toBe(roundBudget(23_600));
  expect(roundBudget(24_000)).toBeGreaterThan(22_000);
  expect(roundBudget(3)).toBe(3);
});

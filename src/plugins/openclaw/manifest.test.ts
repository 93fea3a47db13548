import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { packageFolder } from "../../version.ts";
import { parsePluginSettings } from "./plugin-settings.ts";
import { toolNames } from "./tools.ts";
import { roundBudget } from "./view.ts";

const readPackage = (name: string) =>
  JSON.parse(readFileSync(join(packageFolder, name), "utf8")) as { version: string };
const manifest = readPackage("plugins/openclaw/openclaw.plugin.json") as {
  version: string;
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

test("the plugin has the version of the package", () => {
  const { version } = readPackage("package.json");
  expect([manifest.version, readPackage("plugins/openclaw/package.json").version]).toEqual([version, version]);
});

test("budgets that differ by a few tokens give the same view", () => {
  expect(roundBudget(24_000)).toBe(roundBudget(23_600));
  expect(roundBudget(24_000)).toBeGreaterThan(22_000);
  expect(roundBudget(3)).toBe(3);
});

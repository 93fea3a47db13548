import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse } from "jsonc-parser";
import { afterEach, beforeEach, expect, test } from "vitest";
import { planSetup } from "./setup.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "varve-openclaw-setup-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function plan(remove: boolean, more: { from?: string } = {}) {
  const env = { OPENCLAW_STATE_DIR: folder };
  const context = {
    userHome: folder,
    env,
    platform: process.platform,
    home: join(folder, "varve"),
    flags: [],
    ...more,
  };
  return planSetup("openclaw", context, remove);
}

const configFile = () => join(folder, "openclaw.json");
const read = () => readFileSync(configFile(), "utf8");

test.each([
  ["no plugins", '{\n  // mine\n  "gateway": { "port": 1 }\n}\n'],
  ["an empty file", "{}"],
  ["one line", '{"gateway":{"port":1},"plugins":{"load":{"paths":["/a"]}}}'],
  [
    "other plugins in all slots",
    '{\n\t"plugins": {\n\t\t"allow": ["a", "b"],\n\t\t"load": { "paths": [\n\t\t\t"/a", // first\n\t\t\t"/b"\n\t\t] },\n' +
      '\t\t"slots": { "memory":   "other", "contextEngine": "legacy" },\n' +
      '\t\t"entries": { "memory-core": { "enabled": true, "config": { "x": [1,2] } }, "varve": { "config": { "home": "/old" } } }\n\t},\n}\n',
  ],
])("an installed plugin is removed to the last byte: %s", (_, text) => {
  writeFileSync(configFile(), text);
  plan(false).apply(0);
  const { plugins } = parse(read()) as { plugins: Record<string, Record<string, unknown>> };
  expect(plugins.slots).toEqual({ memory: "varve", contextEngine: "varve" });
  expect(plugins.entries).toMatchObject({
    varve: { enabled: true, hooks: { allowConversationAccess: true }, config: { home: join(folder, "varve") } },
    "memory-core": { enabled: false },
  });
  expect(plugins.load?.paths).toContainEqual(expect.stringMatching(/plugins.openclaw$/));
  expect(plan(false).changes).toEqual([]);
  plan(true).apply(0);
  expect(read()).toBe(text);
});

test("what OpenClaw and the person changed since stays after a removal", () => {
  writeFileSync(configFile(), '{\n  "gateway": { "port": 1 }\n}\n');
  plan(false).apply(0);
  const changed = read()
    .replace('"gateway": { "port": 1 }', '"gateway": { "port": 2 }')
    .replace('"contextEngine": "varve"', '"contextEngine": "legacy"');
  writeFileSync(configFile(), changed);
  plan(true).apply(0);
  expect(parse(read())).toEqual({ gateway: { port: 2 }, plugins: { slots: { contextEngine: "legacy" } } });
});

test("a file that did not exist is gone again", () => {
  plan(false).apply(0);
  plan(true).apply(0);
  expect(() => read()).toThrow("ENOENT");
});

test("replaced plugins are turned off, and their equal settings are taken over", () => {
  const config = { contextThreshold: 0.6, ignoreSessionPatterns: ["cron:**"], unknown: 1 };
  writeFileSync(configFile(), JSON.stringify({ plugins: { entries: { "lossless-claw": { enabled: true, config } } } }));
  const setup = plan(false, { from: "lossless-claw, memory-lancedb-pro" });
  expect(setup.follow?.settings).toEqual([
    { key: "context.contextThreshold", value: "0.6", from: "lossless-claw: contextThreshold" },
    { key: "context.ignoreSessionPatterns", value: '["cron:**"]', from: "lossless-claw: ignoreSessionPatterns" },
  ]);
  setup.apply(0);
  const { entries } = (parse(read()) as { plugins: { entries: Record<string, unknown> } }).plugins;
  expect(entries["lossless-claw"]).toEqual({ enabled: false, config });
  expect(entries["memory-lancedb-pro"]).toEqual({ enabled: false });
});

test("wrong input says what to do", () => {
  expect(() => plan(false, { from: "mem0" })).toThrow("is not a plugin that can be taken over");
  writeFileSync(configFile(), "{ plugins: {} }");
  expect(() => plan(false)).toThrow("cannot be edited, so nothing was changed");
  writeFileSync(configFile(), '{"plugins": {"deny": ["varve"]}}');
  expect(() => plan(false)).toThrow("plugins.deny");
  writeFileSync(configFile(), '{"plugins": {"$include": "plugins.json5"}}');
  expect(() => plan(false)).toThrow("from another file");
});

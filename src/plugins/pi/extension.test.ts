import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createPiExtension } from "./extension.ts";
import type { PiContext } from "./pi-types.ts";

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "varve-pi-"));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

/** Starts and ends a session, and gives what was shown and the tools. */
async function runSession(file: string | undefined) {
  const [shown, tools]: [string[], string[]] = [[], []];
  const handlers = new Map<string, (event: never, context: PiContext) => unknown>();
  createPiExtension({ home, config: { search: { embedder: "none" } } })({
    on: (event, handler) => handlers.set(event, handler),
    registerTool: ({ name }) => tools.push(name),
    registerCommand: () => undefined,
  });
  const context: PiContext = {
    ...{ hasUI: true, cwd: home, ui: { notify: (text: string) => shown.push(text) } },
    sessionManager: { getSessionId: () => "s1", getSessionFile: () => file },
  };
  await handlers.get("session_start")?.({} as never, context);
  await handlers.get("session_shutdown")?.({} as never, context);
  return { shown, tools };
}

test("a session that pi keeps no file of is not stored, and the person is told", async () => {
  const { shown, tools } = await runSession(undefined);
  expect(shown).toEqual([expect.stringContaining("does not store this session")]);
  expect(tools).toContain("lcm_grep");
});

test("a session with a file is opened without a word", async () => {
  expect((await runSession(join(home, "session.jsonl"))).shown).toEqual([]);
});

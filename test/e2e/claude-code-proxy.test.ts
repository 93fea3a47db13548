/** The real Claude Code behind the proxy: what it sends and what it writes to its transcript is one conversation. */
import { globSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { identifyBlocks } from "../../src/domain/index.ts";
import type { Json, Said } from "../support/model-server/dialect.ts";
import { type ClaudeStage, setClaudeStage } from "./claude-code-stage.ts";
import { failuresIn, type ProxyStage, setProxyStage } from "./proxy-stage.ts";

/** Absent only when `VARVE_TEST_SKIP=claude` asked for it, or the test is run without `npm test`. */
const claude = process.env.VARVE_TEST_CLAUDE;
let proxy: ProxyStage;
let stage: ClaudeStage;
afterEach(async () => {
  await stage.end();
  await proxy.end();
});

/** Runs a command when the prompt asks for it. */
function say(body: Json, n: number): Said {
  const last = JSON.stringify((body.messages as Json[]).at(-1));
  return last.includes("Run it") && !last.includes("tool_result")
    ? { text: `Running ${n}.`, calls: [{ id: `toolu_${n}`, name: "Bash", input: { command: `echo ran-${n}` } }] }
    : { text: `Noted as ${n}.` };
}

describe.skipIf(claude === undefined)("Claude Code behind the proxy", () => {
  test.each(["the proxy", "the file"])("is stored once, with %s first", async (first) => {
    proxy = await setProxyStage({ server: { limitTokens: 1_000_000, say } });
    stage = setClaudeStage(claude ?? "", first === "the file" ? proxy.server.url : proxy.anthropic);
    const { varve } = proxy;
    const flags = ["--allowedTools", "Bash"];
    const importAll = () => varve.import([join(stage.config, "projects")], { source: "claude-code" });
    const sessionId = await stage.prompt("The vault is called Heron.", undefined, flags);
    await importAll();
    stage.useModel(proxy.anthropic);
    await stage.prompt("Run it, then say what it printed.", sessionId, flags);
    await stage.prompt("And who owns the vault?", sessionId, flags);
    await importAll();
    const session = await varve.sessions.get(sessionId);
    const blocks: string[] = [];
    for await (const page of varve.transcripts.walk(session)) {
      for (const entry of page) if (entry.type === "message") blocks.push(...identifyBlocks(entry.message));
    }
    for (const text of ["called Heron", "Run it, then", "who owns the vault", "call toolu_", "result toolu_"]) {
      expect(
        blocks.filter((block) => block.includes(text)),
        text,
      ).toHaveLength(1);
    }
    const transcripts = globSync("projects/*/*.jsonl", { cwd: stage.config });
    expect(transcripts).toHaveLength(1);
    expect((await proxy.sessions()).map(({ displayName }) => displayName)).toHaveLength(1);
    expect(failuresIn(proxy.log)).toEqual([]);
  });
});

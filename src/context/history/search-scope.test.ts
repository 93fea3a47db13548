import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openVarve, type Varve } from "../../index.ts";

const home = mkdtempSync(join(tmpdir(), "varve-reach-"));
let varve: Varve;
beforeAll(async () => {
  varve = await openVarve({ home, background: false, config: { session: { dmScope: "per-channel-peer" } } });
  const own = await varve.sessions.resolve({ channel: "telegram", peer: "505" });
  await varve.context.ingest(own, [{ id: "m1", role: "user", content: "The flight is on Friday." }]);
  const other = await varve.sessions.resolve({ key: "agent:other:main" });
  await varve.context.ingest(other, [{ id: "m1", role: "user", content: "The flight is on Sunday." }]);
});
afterAll(async () => {
  await varve.close();
  rmSync(home, { recursive: true, force: true });
});

describe("the conversation a question names", () => {
  it("is not one of another agent, and this is said instead of finding nothing", async () => {
    await expect(varve.context.grep({ pattern: "flight", conversationId: "agent:other:main" })).rejects.toMatchObject({
      code: "SESSION_NOT_FOUND",
    });
    const { matches } = await varve.context.grep({
      pattern: "flight",
      agent: "other",
      conversationId: "agent:other:main",
    });
    expect(matches).toMatchObject([{ snippet: "The flight is on Sunday." }]);
  });

  it("may be named by channel and user, as everywhere else", async () => {
    const { matches } = await varve.context.grep({ pattern: "flight", conversationId: "telegram:505" });
    expect(matches).toMatchObject([{ snippet: "The flight is on Friday." }]);
  });
});

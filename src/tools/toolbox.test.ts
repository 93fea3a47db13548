import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { owner } from "../authorization/index.ts";
import { openToolbox } from "./index.ts";
import { type Stage, setStage } from "./stage.test-util.ts";

let stage: Stage;
let elsewhere: string;
beforeAll(async () => {
  stage = await setStage();
  const other = await stage.varve.sessions.resolve({ key: "agent:main:telegram:direct:505" });
  await stage.varve.context.ingest(other, [{ id: "m1", role: "user", content: "ELSEWHERE the flight is on Friday." }]);
  elsewhere = other.key;
  const foreign = await stage.varve.sessions.resolve({ key: "agent:other:main" });
  await stage.varve.context.ingest(foreign, [{ id: "m1", role: "user", content: "FOREIGN the flight is on Sunday." }]);
});
afterAll(() => stage.end());

const names = async (options = {}) => (await stage.varve.tools(options)).map((tool) => tool.name);
const matches = async (input: object, options = {}) => {
  const { structured } = await stage.call("lcm_grep", { scope: "messages", ...input }, options);
  return (structured as { matches: { snippet: string; citation: string }[] }).matches;
};

/** A grant as one delegation gives it; the engine has no door for it but the store. */
async function grantFor(conversations: number[], tokenCap = 10_000): Promise<string> {
  const { default: Database } = await import("better-sqlite3");
  const db = new Database(stage.varve.settings.config.database);
  const id = `grant_${conversations.join("_")}_${tokenCap}_${Math.trunc(performance.now() * 1000)}`;
  db.prepare(
    "insert into grants (agent, id, origin_key, conversations, token_cap, tokens_read, reads, state, expires_at, created_at) values ('main', ?, 'agent:main:main', ?, ?, 0, 0, 'active', ?, 0)",
  ).run(id, JSON.stringify(conversations), tokenCap, Date.now() + 600_000);
  db.close();
  return id;
}
async function endGrant(id: string): Promise<void> {
  const { default: Database } = await import("better-sqlite3");
  const db = new Database(stage.varve.settings.config.database);
  db.prepare("update grants set state = 'revoked' where id = ?").run(id);
  db.close();
}

describe("every tool", () => {
  it("has a description, and schemas that a client can read", async () => {
    for (const tool of await stage.varve.tools()) {
      expect(tool.description.length, tool.name).toBeGreaterThan(80);
      const isWriting = ["memory_store", "memory_update", "memory_forget"].includes(tool.name);
      expect(tool.annotations.readOnlyHint, tool.name).toBe(!isWriting);
      const input = z.toJSONSchema(tool.input, { io: "input" });
      expect(input, tool.name).toMatchObject({ type: "object", additionalProperties: false });
      for (const [field, schema] of Object.entries(input.properties ?? {})) {
        expect((schema as { description?: string }).description, `${tool.name}.${field}`).toBeTruthy();
      }
      expect(z.toJSONSchema(tool.output), tool.name).toMatchObject({ type: "object" });
    }
  });

  it("answers as its output schema says", async () => {
    const { sessionId, key } = stage.session;
    const calls: [string, object][] = [
      ["lcm_grep", { pattern: "deploy", limit: 2 }],
      ["lcm_describe", { id: stage.roots[0] }],
      ["lcm_expand", { summaryIds: stage.roots }],
      ["lcm_expand_query", { prompt: "vault" }],
      ["memory_store", { text: "The vault code is ZX-4711." }],
      ["memory_recall", { query: "vault code" }],
      ["memory_list", { category: "entities" }],
      ["memory_stats", {}],
      ["memory_forget", { query: "vault code" }],
      ["session_list", {}],
      ["session_status", { key: sessionId }],
      ["session_status", { key }],
    ];
    for (const [name, input] of calls) {
      const tool = (await stage.varve.tools()).find((one) => one.name === name);
      const { structured } = (await tool?.run(input)) ?? {};
      expect(tool?.output.parse(structured), name).toEqual(structured);
    }
  });

  it("stops when it is cancelled, whatever the reason given", async () => {
    for (const tool of await stage.varve.tools()) {
      if (!tool.name.startsWith("lcm_")) continue;
      const input = { lcm_grep: { pattern: "x" }, lcm_describe: { id: "msg#1" }, lcm_expand: { query: "x" } }[
        tool.name
      ];
      const run = tool.run(input ?? { prompt: "x" }, { signal: AbortSignal.abort("the user pressed Escape") });
      await expect(run, tool.name).rejects.toMatchObject({ code: "ABORTED" });
    }
  });
});

describe("open to the owner", () => {
  it("offers all of them, over all conversations", async () => {
    expect(await names()).toEqual([
      "lcm_grep",
      "lcm_describe",
      "lcm_expand",
      "lcm_expand_query",
      "memory_search",
      "memory_get",
      "memory_recall",
      "memory_store",
      "memory_update",
      "memory_forget",
      "memory_list",
      "memory_stats",
      "session_list",
      "session_status",
    ]);
    expect(await matches({ pattern: "ZX-4711|ELSEWHERE" })).toHaveLength(2);
    expect(await matches({ pattern: "FOREIGN" })).toHaveLength(0);
    expect(await matches({ pattern: "FOREIGN" }, { agent: "other" })).toHaveLength(1);
  });
});

describe("in a session", () => {
  it("means its own conversation unless another is named", async () => {
    const options = { session: stage.session };
    expect(await matches({ pattern: "ELSEWHERE|ZX-4711" }, options)).toMatchObject([
      { snippet: "The vault code is ZX-4711." },
    ]);
    expect(await matches({ pattern: "ELSEWHERE" }, options)).toHaveLength(0);
    expect(await matches({ pattern: "ELSEWHERE", allConversations: true }, options)).toHaveLength(1);
    expect(
      await matches({ pattern: "ELSEWHERE", conversationId: elsewhere }, { session: stage.session.key }),
    ).toHaveLength(1);
  });

  it("does not offer lcm_expand, and says what to use instead", async () => {
    const options = { session: stage.session };
    expect(await names(options)).not.toContain("lcm_expand");
    await expect(stage.call("lcm_expand", { query: "x" }, options)).rejects.toMatchObject({
      code: "REFUSED",
      remedy: expect.stringContaining("lcm_expand_query"),
    });
  });

  it("reaches into no other agent", async () => {
    const options = { session: stage.session };
    await expect(stage.call("session_list", { agent: "other" }, options)).rejects.toMatchObject({ code: "FORBIDDEN" });
    await expect(stage.call("session_status", { key: "agent:other:main" }, options)).rejects.toMatchObject({
      code: "SESSION_NOT_FOUND",
    });
    await expect(matches({ pattern: "x", conversationId: "agent:other:main" }, options)).rejects.toMatchObject({
      code: "SESSION_NOT_FOUND",
    });
  });

  it("follows the session when it is renewed", async () => {
    const session = await stage.varve.sessions.resolve({ key: "agent:main:renewed" });
    await stage.varve.context.ingest(session, [{ id: "m1", role: "user", content: "BEFORE the reset" }]);
    await stage.varve.sessions.renew(session, "reset");
    expect(await matches({ pattern: "BEFORE" }, { session })).toHaveLength(0);
  });
});

describe("bound to an agent", () => {
  it("sees nothing of another one", async () => {
    const options = { agent: "other", principal: { ...owner, agents: ["other"] } };
    expect(await matches({ pattern: "ELSEWHERE|ZX-4711", allConversations: true }, options)).toHaveLength(0);
    const { structured } = await stage.call("session_list", {}, options);
    expect(structured).toMatchObject({ sessions: [{ key: "agent:other:main" }] });
    await expect(stage.call("session_list", { agent: "main" }, options)).rejects.toMatchObject({ code: "FORBIDDEN" });
    for (const key of ["agent:main:main", stage.session.sessionId]) {
      await expect(stage.call("session_status", { key }, options)).rejects.toMatchObject({ code: "SESSION_NOT_FOUND" });
    }
    await expect(stage.call("lcm_describe", { id: stage.roots[0] }, options)).rejects.toMatchObject({
      code: "NOT_FOUND",
    });
    await expect(matches({ pattern: "x" }, { ...options, session: "agent:main:main" })).rejects.toMatchObject({
      code: "SESSION_NOT_FOUND",
    });
  });
});

describe("delegated with a grant", () => {
  it("offers reading only, within what the grant names", async () => {
    const grant = await grantFor([stage.session.conversation], 100_000);
    expect(await names({ grant })).toEqual(["lcm_grep", "lcm_describe", "lcm_expand"]);
    expect(await matches({ pattern: "ELSEWHERE|ZX-4711", allConversations: true }, { grant })).toHaveLength(1);
    await expect(matches({ pattern: "x", conversationId: elsewhere }, { grant })).rejects.toMatchObject({
      code: "REFUSED",
    });
    const [hidden] = await matches({ pattern: "ELSEWHERE" });
    await expect(stage.call("lcm_describe", { id: hidden?.citation }, { grant })).rejects.toMatchObject({
      code: "NOT_FOUND",
    });
    expect((await stage.call("lcm_expand", { summaryIds: stage.roots }, { grant })).markdown).toContain("lcm_expand: ");
    for (const tool of ["lcm_expand_query", "memory_recall", "memory_store", "session_list", "session_status"]) {
      await expect(stage.call(tool, { prompt: "x" }, { grant })).rejects.toMatchObject({ code: "REFUSED" });
    }
  });

  it("ends with the grant, from one call to the next", async () => {
    const grant = await grantFor([stage.session.conversation]);
    expect(await matches({ pattern: "ZX-4711" }, { grant })).toHaveLength(1);
    await endGrant(grant);
    await expect(matches({ pattern: "ZX-4711" }, { grant })).rejects.toMatchObject({ code: "REFUSED" });
    await expect(matches({ pattern: "x" }, { grant: "grant_nobody_gave" })).rejects.toMatchObject({ code: "REFUSED" });
  });

  it("reads no more than its tokens", async () => {
    const grant = await grantFor([stage.session.conversation], 300);
    await expect(matches({ pattern: "Turn", limit: 50 }, { grant })).rejects.toMatchObject({
      code: "REFUSED",
      remedy: expect.stringContaining("lower limit"),
    });
  });

  it("is not combined with a session", () => {
    expect(() => openToolbox(stage.varve, { grant: "grant_x", session: stage.session })).toThrow(/not in a session/);
  });
});

describe("session_list and session_status", () => {
  it("list sessions by what their key contains", async () => {
    const { markdown, structured } = await stage.call("session_list", { key: "telegram" });
    expect(structured).toMatchObject({ sessions: [{ key: elsewhere, messages: 1, channel: "telegram" }], cuts: [] });
    expect(markdown).toContain(`- \`${elsewhere}\``);
    expect((await stage.call("session_list", { key: "nothing-like-it" })).markdown).toContain(
      "No session's key contains",
    );
  });

  it("tell how the present session stands", async () => {
    const { structured, markdown } = await stage.call("session_status", {}, { session: "agent:main:main" });
    expect(structured).toMatchObject({ session: { key: "agent:main:main", messages: 400, compactions: 1 } });
    expect((structured as { context: { summaries: number } }).context.summaries).toBe(stage.roots.length);
    expect(markdown).toContain(`in view: ${stage.roots.length} summaries`);
  });

  it("say that there are more sessions than they show", async () => {
    for (let index = 0; index < 101; index += 1) {
      await stage.varve.sessions.resolve({ key: `agent:many:s${index}` });
    }
    const { structured } = await stage.call("session_list", { agent: "many" });
    const { sessions, cuts } = structured as { sessions: unknown[]; cuts: string[] };
    expect(sessions.length).toBeLessThanOrEqual(100);
    expect(cuts).toEqual([expect.stringContaining("narrow the list with key")]);
  });
});

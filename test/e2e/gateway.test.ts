import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Entry, Message } from "../../src/domain/index.ts";
import { type Sent, type Stage, setStage, sha256 } from "./gateway-stage.ts";

interface PageOfEntries {
  entries: (Entry & { type: "message" })[];
  before?: number;
}

let stage: Stage;
let sessions = 0;
const send = (method: string, path: string, sent: Sent = {}) => stage.send(method, path, { token: "all", ...sent });

beforeAll(async () => {
  stage = await setStage({
    requestsPerMinute: 100_000,
    allowedHosts: ["memory.example"],
    allowedOrigins: ["https://app.example"],
    tokens: [
      { name: "all", token: sha256("all"), rights: ["admin"] },
      { name: "reader", token: sha256("reader"), rights: ["read"] },
      { name: "foreign", token: sha256("foreign"), rights: ["admin"], agent: "Other" },
    ],
  });
});
afterAll(() => stage.end());

async function newSession(): Promise<{ key: string; at: string; sessionId: string }> {
  sessions += 1;
  const answer = await send("POST", "/api/sessions", { body: { key: `agent:main:s${sessions}` } });
  expect(answer.status).toBe(201);
  const { key, sessionId } = answer.json as { key: string; sessionId: string };
  return { key, sessionId, at: `/api/sessions/${encodeURIComponent(key)}` };
}

const said = (...messages: Message[]): Sent => ({ body: { messages } });

describe("sessions", () => {
  it("are made once and found by address, key, id and the start of an id", async () => {
    const group = {
      channel: "matrix",
      group: { type: "room", id: "!a/b?c#d%41:x.org", thread: { type: "thread", id: "7" } },
    };
    const made = await send("POST", "/api/sessions", { body: group });
    expect(made.status).toBe(201);
    const session = made.json as { key: string; sessionId: string };
    expect(session.key).toContain("!a/b?c#d%2541%3Ax.org");
    expect((await send("POST", "/api/sessions", { body: group })).status).toBe(200);
    for (const name of [session.key, session.sessionId, session.sessionId.slice(0, 13)]) {
      const found = await send("GET", `/api/sessions/${encodeURIComponent(name)}`);
      expect(found.json, name).toMatchObject({ key: session.key });
    }
  });

  it("are listed in pages, narrowed by channel and match", async () => {
    for (const peer of ["1", "2", "3"])
      await send("POST", "/api/sessions", { body: { key: `agent:main:pager:direct:${peer}` } });
    const first = (await send("GET", "/api/sessions?channel=pager&limit=2")).json as {
      sessions: unknown[];
      next: string;
    };
    expect(first.sessions).toHaveLength(2);
    const second = await send("GET", `/api/sessions?channel=pager&limit=2&after=${first.next}`);
    expect((second.json as { sessions: unknown[] }).sessions).toHaveLength(1);
    expect(second.json).not.toHaveProperty("next");
    expect((await send("GET", "/api/sessions?match=pager:direct:3")).json).toMatchObject({
      sessions: [{ channel: "pager" }],
    });
    expect((await send("GET", "/api/sessions?after=nonsense")).status).toBe(400);
  });

  it("take what may be set and say what may not", async () => {
    const { at } = await newSession();
    const patched = await send("PATCH", at, {
      body: { displayName: "Trip", metadata: { a: [1] }, sendPolicy: "deny" },
    });
    expect(patched.json).toMatchObject({ displayName: "Trip", metadata: { a: [1] }, sendPolicy: "deny" });
    expect((await send("PATCH", at, { body: { displayName: null } })).json).not.toHaveProperty("displayName");
    const refused = await send("PATCH", at, { body: { messageCount: 3 } });
    expect(refused.status).toBe(400);
    expect(refused.text).toContain("messageCount");
    expect(refused.text).toContain("displayName");
  });

  it("are renewed, reset, restored, forked and deleted", async () => {
    const { at, key, sessionId } = await newSession();
    await send("POST", `${at}/messages`, said({ id: "a", role: "user", content: "one" }));
    const renewed = (await send("POST", `${at}/new`)).json as { sessionId: string };
    expect(renewed.sessionId).not.toBe(sessionId);
    expect((await send("POST", `${at}/reset`)).json).toMatchObject({ messageCount: 0 });
    expect((await send("POST", `${at}/restore`, { body: { sessionId } })).json).toMatchObject({
      sessionId,
      messageCount: 1,
    });
    const history = (await send("GET", `${at}/history`)).json as { history: { sessionId: string }[] };
    expect(history.history).toHaveLength(3);
    const child = await send("POST", `${at}/fork`, { body: { key: `${key}-child`, atEntry: "a" } });
    expect(child.status).toBe(201);
    expect((await send("POST", `${at}/fork`, { body: { key: "agent:other:child" } })).status).toBe(403);
    expect((await send("DELETE", at)).status).toBe(409);
    expect((await send("DELETE", `${at}-child`)).status).toBe(200);
    expect((await send("DELETE", at)).json).toMatchObject({ conversations: 2 });
    expect((await send("GET", at)).status).toBe(404);
  });

  it("of another agent are made with that agent's token only under its name", async () => {
    const own = await send("POST", "/api/sessions", { token: "foreign", body: { channel: "app", peer: "ann" } });
    expect(own.json).toMatchObject({ agent: "other", key: "agent:other:app:direct:ann" });
    const cron = await send("POST", "/api/sessions", { token: "foreign", body: { key: "cron:nightly" } });
    expect(cron.json).toMatchObject({ agent: "other" });
    for (const body of [{ agent: "main" }, { key: "agent:main:main" }, { key: "AGENT:MAIN:stolen" }]) {
      expect((await send("POST", "/api/sessions", { token: "foreign", body })).status).toBe(403);
    }
    const listed = (await send("GET", "/api/sessions", { token: "foreign" })).json as { sessions: { agent: string }[] };
    expect(listed.sessions.map((session) => session.agent)).toEqual(["other", "other"]);
    expect((await send("GET", "/api/sessions?agent=main", { token: "foreign" })).status).toBe(403);
    const asked = "/api/sessions/agent:main:s1";
    const missing = (await send("GET", "/api/sessions/agent:main:s0", { token: "foreign" })).text;
    await send("POST", "/api/sessions", { body: { key: "agent:main:s1" } });
    expect((await send("GET", asked, { token: "foreign" })).text).toBe(missing.replace("s0", "s1"));
  });
});

describe("messages", () => {
  it("come back as they were sent, once, in order, in pages", async () => {
    const { at } = await newSession();
    const parts: Message = {
      id: "p",
      role: "assistant",
      content: [
        { type: "text", text: "\u{1F980} \u0000 </script>" },
        { type: "tool_call", callId: "c", name: "f", input: { z: 1, a: [null, { __proto__x: true }] } },
      ],
      time: 5,
      meta: { deep: { er: [1, 2.5, "x"] } },
    };
    const first = await send("POST", `${at}/messages`, said({ id: "a", role: "user", content: "one" }, parts));
    expect(first.json).toMatchObject({ appended: 2, duplicates: 0 });
    await send("POST", `${at}/new`);
    const again = await send("POST", `${at}/messages`, said(parts, { id: "b", role: "user", content: "two" }));
    expect(again.json).toMatchObject({ appended: 1, duplicates: 1 });
    const all = (await send("GET", `${at}/messages`)).json as PageOfEntries;
    expect(all.entries.map((entry) => entry.id)).toEqual(["a", "p", "b"]);
    expect(all.entries[1]?.message).toEqual(parts);
    const last = (await send("GET", `${at}/messages?limit=2`)).json as PageOfEntries;
    expect(last.entries.map((entry) => entry.id)).toEqual(["p", "b"]);
    const rest = (await send("GET", `${at}/messages?limit=2&before=${last.before}`)).json as PageOfEntries;
    expect(rest.entries.map((entry) => entry.id)).toEqual(["a"]);
    const everything = (await send("GET", `${at}/messages?all=1`)).json as PageOfEntries;
    expect(everything.entries.map((entry) => entry.type)).toEqual([
      "session",
      "message",
      "message",
      "reset",
      "session",
      "message",
    ]);
    const cited = await send("GET", `${at}/entries/msg%23${all.entries[1]?.seq}`);
    expect(cited.json).toMatchObject({ id: "p" });
    expect((await send("GET", `${at}/entries/none`)).status).toBe(404);
  });

  it("of 50 senders at once are all kept, and a message sent twice is stored once", async () => {
    const { at } = await newSession();
    const posts = Array.from({ length: 100 }, (_, index) =>
      send("POST", `${at}/messages`, said({ id: `m${index % 50}`, role: "user", content: `text ${index % 50}` })),
    );
    const answers = await Promise.all(posts);
    expect(new Set(answers.map((answer) => answer.status))).toEqual(new Set([200]));
    const page = (await send("GET", `${at}/messages?limit=1000`)).json as PageOfEntries;
    expect(page.entries.map((entry) => entry.id).sort()).toEqual(Array.from({ length: 50 }, (_, i) => `m${i}`).sort());
  });

  it("are exported in three forms", async () => {
    const { at } = await newSession();
    await send("POST", `${at}/messages`, said({ id: "a", role: "user", content: "<b>hi</b>" }));
    const jsonl = await send("GET", `${at}/export`);
    expect(jsonl.headers["content-type"]).toBe("application/x-ndjson; charset=utf-8");
    expect(
      jsonl.text
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line).type),
    ).toEqual(["varve_session", "session", "message"]);
    const markdown = await send("GET", `${at}/export?format=markdown`);
    expect(markdown.headers["content-type"]).toBe("text/markdown; charset=utf-8");
    const html = await send("GET", `${at}/export?format=html`);
    expect(html.headers["content-security-policy"]).toContain("sandbox");
    expect(html.text).toContain("&lt;b&gt;hi");
    expect((await send("GET", `${at}/export?format=pdf`)).status).toBe(400);
  });
});

describe("hostile input", () => {
  it("gets an error that names the field, and nothing is stored", async () => {
    const { at } = await newSession();
    const deep = `{"messages":[{"role":"user","content":"x","meta":${'{"a":'.repeat(50_000)}1${"}".repeat(50_000)}}]}`;
    const cases: [body: unknown, names: string][] = [
      ['{"messages":', "Malformed JSON"],
      ["[]", "body"],
      ["null", "body"],
      [{ messages: [] }, "body.messages"],
      [{ messages: [{ role: "user", content: "x" }], extra: 1 }, "extra"],
      [{ messages: [{ role: "user", content: "x", colour: 1 }] }, "colour"],
      [{ messages: [{ role: "robot", content: "x" }] }, "body.messages[0].role"],
      [{ messages: [{ role: "user" }] }, "body.messages[0].content"],
      [{ messages: [{ role: "user", content: [{ type: "text" }] }] }, "content[0]"],
      [{ messages: [{ role: "user", content: [{ type: "nonsense" }] }] }, "nonsense"],
      [{ messages: [{ id: "x".repeat(600), role: "user", content: "x" }] }, "body.messages[0].id"],
      [{ messages: [{ id: "a\u0000b", role: "user", content: "x" }] }, "body.messages[0].id"],
      [{ messages: [{ id: "\ud800", role: "user", content: "x" }] }, "body.messages[0].id"],
      [{ messages: [{ role: "user", content: "x", time: "today" }] }, "body.messages[0].time"],
      ['{"messages":[{"role":"user","content":"x","time":1e999}]}', "time"],
      [deep, "deep"],
      [`{"messages":[${"[".repeat(100_000)}${"]".repeat(100_000)}]}`, "deep"],
      [
        {
          messages: [
            { id: "ok", role: "user", content: "x" },
            { role: "user", content: 1 },
          ],
        },
        "body.messages[1].content",
      ],
    ];
    for (const [body, names] of cases) {
      const answer = await send("POST", `${at}/messages`, { body });
      expect(answer.status, answer.text.slice(0, 300)).toBe(400);
      expect(answer.text).toContain(names);
      expect(answer.text.length).toBeLessThan(5000);
    }
    expect((await send("GET", `${at}/messages`)).json).toEqual({ entries: [] });
  });

  it("in paths and queries finds nothing and breaks nothing", async () => {
    const names = [
      "..%2f..%2f..%2fetc%2fpasswd",
      "%2e%2e%2f%2e%2e",
      "agent%3Amain%3A..%2f..",
      "%00",
      "agent%3Amain%3A%00",
      "%ff%fe",
      "%",
      "x".repeat(2000),
      "'%20or%201=1--",
      "%25",
      "_",
      "__proto__",
    ];
    for (const name of names) {
      for (const tail of ["", "/messages", "/export", "/entries/%00", `/entries/${"y".repeat(2000)}`]) {
        const answer = await send("GET", `/api/sessions/${name}${tail}`);
        expect([400, 404], `${name}${tail}: ${answer.text}`).toContain(answer.status);
        expect(answer.json).toMatchObject({ error: { code: expect.any(String) } });
      }
    }
    const { at } = await newSession();
    for (const query of [
      "limit=0",
      "limit=1001",
      "limit=x",
      "before=-1",
      "before=1.5",
      "limit=1&limit=2",
      "what=1",
      "all=yes",
    ]) {
      expect((await send("GET", `${at}/messages?${query}`)).status, query).toBe(400);
    }
    expect((await send("GET", `${at}/entries/msg%2399999999999999999999`)).status).toBe(404);
  });

  it("without a content type is not taken for JSON", async () => {
    const { at } = await newSession();
    for (const type of ["text/plain", "application/x-www-form-urlencoded"]) {
      const answer = await send("POST", `${at}/messages`, {
        body: '{"messages":[]}',
        headers: { "content-type": type },
      });
      expect(answer.status).toBe(415);
      expect(answer.text).toContain("content-type: application/json");
    }
  });
});

describe("names and origins", () => {
  it("that were allowed may call, and only they get CORS headers", async () => {
    const { port } = stage.gateway;
    for (const host of [
      `localhost:${port}`,
      `127.0.0.1:${port}`,
      `[::1]:${port}`,
      "memory.example",
      "memory.example:443",
    ]) {
      expect((await send("GET", "/health", { headers: { host } })).status, host).toBe(200);
    }
    for (const host of [
      "localhost",
      "localhost:1",
      `127.0.0.1.evil.example:${port}`,
      "memory.example.evil",
      "x@localhost",
    ]) {
      expect([400, 403], host).toContain((await send("GET", "/health", { headers: { host } })).status);
    }
    const origin = "https://app.example";
    const preflight = await stage.send("OPTIONS", "/api/sessions", {
      headers: { origin, "access-control-request-method": "POST" },
    });
    expect(preflight.status).toBe(204);
    expect(preflight.headers["access-control-allow-origin"]).toBe(origin);
    expect(preflight.headers["access-control-allow-headers"]).toContain("Authorization");
    const refused = await stage.send("GET", "/api/status", { headers: { origin } });
    expect(refused.status).toBe(401);
    expect(refused.headers["access-control-allow-origin"]).toBe(origin);
    const own = await send("GET", "/api/status", { headers: { origin: `http://127.0.0.1:${port}` } });
    expect(own.status).toBe(200);
    expect(own.headers["access-control-allow-origin"]).toBeUndefined();
  });
});

describe("administration", () => {
  it("masks secrets and gives paths to administrators only", async () => {
    const config = await send("GET", "/api/config");
    expect(config.text).toContain("gateway.tokens");
    expect(config.text).not.toContain(sha256("all").slice(7));
    expect((await send("GET", "/api/status")).json).toMatchObject({ home: stage.home });
    expect((await send("GET", "/api/status", { token: "reader" })).json).not.toHaveProperty("home");
    expect(Object.keys((await send("GET", "/api/status", { token: "foreign" })).json as object).sort()).toEqual([
      "engine",
      "schemaVersion",
      "version",
    ]);
    expect((await send("GET", "/api/doctor")).json).toMatchObject({ healthy: true });
  });
});

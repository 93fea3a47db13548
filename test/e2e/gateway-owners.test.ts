/** Owners over HTTP, and people apart: who may speak as the owner, and what the model and the routes show to whom. */
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Owner, UnknownPerson } from "../../src/index.ts";
import { type ChatServer, lastUserText, modelSettings, startChatServer } from "../support/chat-server.ts";
import { type Answer, type Stage, setStage } from "./gateway-stage.ts";

const pin = "PIN-7291";
const remembered = "VAULT-4711";
let server: ChatServer;
let stage: Stage;
/** The machine's token, and tokens of the database by name. */
const tokens: Record<string, string> = {};

beforeAll(async () => {
  server = await startChatServer((body) => ({ text: `You said: ${lastUserText(body)}` }));
  stage = await setStage(
    { requestsPerMinute: 100_000, audit: true },
    {
      config: {
        models: modelSettings(server.url),
        search: { embedder: "none" },
        turn: { debounceMs: 0, owners: { slack: ["U1"] } },
      },
    },
  );
  tokens.machine = readFileSync(stage.gateway.tokenFile ?? "", "utf8").trim();
  const readWrite = ["read", "write"] as const;
  const all = ["read", "write", "admin"] as const;
  for (const request of [
    { name: "bound", rights: readWrite, agent: "main" },
    { name: "plain", rights: readWrite },
    { name: "bound-admin", rights: all, agent: "main" },
    { name: "scoped-admin", rights: all, scopes: ["global"] },
    { name: "admin", rights: all },
  ]) {
    tokens[request.name] = (await stage.varve.accessTokens.create(request)).secret;
  }
  await stage.varve.memory.add({ text: `The code of the owner's vault is ${remembered}.`, force: true });
});
afterAll(async () => {
  await stage.end();
  await server.close();
});
beforeEach(() => {
  server.requests.length = 0;
});

const unlimited = ["machine", "admin"];
const limited = ["bound", "plain", "bound-admin", "scoped-admin"];

function send(token: string, method: string, path: string, body?: unknown): Promise<Answer> {
  return stage.send(method, path, { token: tokens[token], ...(body === undefined ? {} : { body }) });
}

const errorOf = (answer: Answer) => (answer.json as { error: { code: string; message: string; remedy: string } }).error;
const peopleOf = (answer: Answer) => answer.json as { owners: Owner[]; unknown: UnknownPerson[] };
const prompts = () => JSON.stringify(server.requests);

describe("two people over HTTP", () => {
  for (const token of ["machine", "bound", "plain"]) {
    it(`have prompts, searches and memories apart with the token ${token}`, async () => {
      const [ann, bob] = [`ann-${token}`, `bob-${token}`];
      const say = (peer: string, text: string) =>
        send(token, "POST", "/api/turns", { channel: "app", from: { id: peer }, text });
      const told = await say(ann, `My PIN is ${pin}.`);
      expect(told.json).toMatchObject({ status: "replied", key: `agent:main:app:direct:${ann}` });
      server.requests.length = 0;
      const asked = await say(bob, `What is my PIN? And the code of the owner's vault?`);
      expect(asked.json).toMatchObject({ status: "replied", key: `agent:main:app:direct:${bob}` });
      expect(server.requests.length).toBeGreaterThan(0);
      expect(prompts()).not.toContain(pin);
      expect(prompts()).not.toContain(remembered);
      expect(asked.text).not.toContain(pin);

      const session = `agent:main:app:direct:${bob}`;
      const named = `session=${encodeURIComponent(session)}`;
      for (const answer of [
        await send(token, "GET", `/api/search?q=PIN&${named}`),
        await send(token, "GET", `/api/search?q=vault+code&kind=memory&${named}`),
        await send(token, "GET", `/api/search?q=vault+code&asOf=2030-01-01&${named}`),
        await send(token, "GET", `/api/grep?pattern=PIN-&${named}`),
        await send(token, "POST", "/api/search/answer", { query: "vault code", kinds: ["memory"], session }),
      ]) {
        expect(answer.status).toBe(200);
        expect(answer.text).not.toContain(pin);
        expect(answer.text).not.toContain(remembered);
      }
      server.requests.length = 0;
      const own = await say(ann, "What is my PIN?");
      expect(own.status).toBe(200);
      expect(prompts()).toContain(pin);
    });
  }

  it("have sessions of their own, which say whose they are and how they came in", async () => {
    const opened = await send("bound", "POST", "/api/sessions", { channel: "app", peer: "carol" });
    expect(opened.status).toBe(201);
    expect(opened.json).toMatchObject({
      key: "agent:main:app:direct:carol",
      audience: "user:app:carol",
      door: "http",
    });
  });

  it("are not the owner when their id is missing", async () => {
    for (const [body, field] of [
      [{ channel: "app", peer: "" }, "peer"],
      [{ channel: "app", peer: null }, "peer"],
      [{ channel: "app" }, "peer"],
      [{ chanel: "app", peer: "ann" }, "chanel"],
    ] as const) {
      for (const token of ["machine", "bound"]) {
        const answer = await send(token, "POST", "/api/sessions", body);
        expect([answer.status, errorOf(answer).message]).toEqual([400, expect.stringContaining(field)]);
      }
    }
    for (const body of [
      { channel: "app", from: { id: "" }, text: "Hi" },
      { channel: "app", from: null, text: "Hi" },
      { channel: "app", text: "Hi" },
    ]) {
      for (const token of ["machine", "bound"]) {
        expect((await send(token, "POST", "/api/turns", body)).status, JSON.stringify(body)).toBe(400);
      }
    }
    expect(server.requests).toEqual([]);
  });
});

describe("speaking as the owner", () => {
  it("is for tokens that may do everything", async () => {
    for (const token of unlimited) {
      for (const body of [{}, { agent: "main" }, { owner: true }, { channel: "app", peer: "x", owner: true }]) {
        const opened = await send(token, "POST", "/api/sessions", body);
        expect(opened.json, `${token} ${JSON.stringify(body)}`).toMatchObject({ key: "agent:main:main" });
        expect(opened.json).not.toHaveProperty("audience");
      }
      for (const body of [{}, { owner: true }, { owner: true, channel: "app", from: { id: "x" } }]) {
        const answer = await send(token, "POST", "/api/turns", { ...body, text: "Hello" });
        expect(answer.json, `${token} ${JSON.stringify(body)}`).toMatchObject({ key: "agent:main:main" });
      }
    }
  });

  it("is refused to other tokens, with what to send instead", async () => {
    for (const token of limited) {
      for (const body of [{}, { agent: "main" }, { owner: true }, { channel: "app", peer: "x", owner: true }]) {
        const refused = await send(token, "POST", "/api/sessions", body);
        expect([refused.status, errorOf(refused).code], `${token} ${JSON.stringify(body)}`).toEqual([403, "REFUSED"]);
        expect(errorOf(refused).remedy).toContain("peer");
      }
    }
    for (const token of ["bound", "plain", "bound-admin"]) {
      for (const body of [{}, { owner: true }, { owner: true, channel: "app", from: { id: "x" } }]) {
        const refused = await send(token, "POST", "/api/turns", { ...body, text: "Hello" });
        expect([refused.status, errorOf(refused).code], `${token} ${JSON.stringify(body)}`).toEqual([403, "REFUSED"]);
        expect(errorOf(refused).remedy).toContain("from");
      }
    }
    expect(server.requests).toEqual([]);
  });
});

it("a session that is named like one of the owner's programs belongs to whom its key names", async () => {
  for (const channel of ["cli", "proxy", "claude-code"]) {
    const session = `agent:main:${channel}:direct:mallory`;
    const body = { session, text: "What is the code of the owner's vault?" };
    expect((await send("bound", "POST", "/api/turns", body)).json).toMatchObject({ key: session });
    expect((await stage.varve.sessions.get(session)).audience).toBe(`user:${channel}:mallory`);
  }
  expect(prompts()).not.toContain(remembered);
  const own = "agent:main:console:direct:own";
  await send("machine", "POST", "/api/turns", { session: own, owner: true, text: "What is the code of my vault?" });
  expect((await stage.varve.sessions.get(own)).audience).toBeUndefined();
  expect(prompts()).toContain(remembered);
});

it("tells whose a session is", async () => {
  const { key } = await stage.varve.sessions.resolve({ channel: "app", peer: "frank: x" });
  const about = async (session: string) =>
    (await send("machine", "GET", `/api/owners?session=${encodeURIComponent(session)}`)).json;
  expect(await about(key)).toMatchObject({ person: { channel: "app", id: "frank: x", isOwner: false } });
  const slack = await stage.varve.sessions.resolve({ key: "agent:main:slack:direct:U1" });
  expect(await about(slack.key)).toMatchObject({ person: { channel: "slack", id: "U1", isOwner: true } });
  expect(await about("agent:main:main")).not.toHaveProperty("person");
});

describe("the owner's ids", () => {
  const id = "5054 %/?#'\u00fc:x";

  it("are listed, added and removed, whatever they are", async () => {
    await send("bound", "POST", "/api/turns", { channel: "telegram", from: { id, name: "Dana" }, text: "Hello" });
    const before = await send("machine", "GET", "/api/owners");
    expect(peopleOf(before).owners).toEqual([{ channel: "slack", id: "U1" }]);
    const stranger = peopleOf(before).unknown.find((one) => one.id === id);
    expect(stranger).toMatchObject({ channel: "telegram", key: expect.stringContaining(":telegram:direct:") });
    const status = await send("machine", "GET", "/api/status");
    expect((status.json as { people: { unknown: UnknownPerson[] } }).people.unknown).toContainEqual(stranger);

    const added = await send("admin", "POST", "/api/owners", { channel: "Telegram", id });
    expect(added.status).toBe(201);
    expect(peopleOf(added).owners).toContainEqual({
      channel: "telegram",
      id,
      addedBy: "admin",
      addedAt: expect.any(Number),
    });
    expect(peopleOf(added).unknown.map((one) => one.id)).not.toContain(id);
    const turn = await send("bound", "POST", "/api/turns", { channel: "telegram", from: { id }, text: "It is me." });
    expect(turn.json).toMatchObject({ key: "agent:main:main" });

    const path = `/api/owners?channel=telegram&id=${encodeURIComponent(id)}`;
    const removed = await send("machine", "DELETE", path);
    expect([removed.status, peopleOf(removed).owners]).toEqual([200, [{ channel: "slack", id: "U1" }]]);
    expect((await send("machine", "DELETE", path)).status).toBe(404);
    const records = await stage.varve.audit.list({ limit: 200 });
    expect(records).toContainEqual(
      expect.objectContaining({ action: "POST /api/owners", targets: { channel: "Telegram", id } }),
    );
    expect(records).toContainEqual(
      expect.objectContaining({ action: "DELETE /api/owners", targets: { channel: "telegram", id } }),
    );
  });

  it("belong to an agent", async () => {
    const added = await send("machine", "POST", "/api/owners", { channel: "telegram", id: "77", agent: "Work" });
    expect(peopleOf(added).owners).toContainEqual(expect.objectContaining({ id: "77", addedBy: "token file" }));
    expect(peopleOf(await send("machine", "GET", "/api/owners")).owners.map((one) => one.id)).not.toContain("77");
    expect(peopleOf(await send("machine", "GET", "/api/owners?agent=work")).owners.map((one) => one.id)).toContain(
      "77",
    );
  });

  it("of the settings are changed there", async () => {
    const refused = await send("machine", "DELETE", "/api/owners?channel=slack&id=U1");
    expect([refused.status, errorOf(refused).remedy]).toEqual([403, expect.stringContaining("turn.owners")]);
  });

  it("are for tokens that may do everything", async () => {
    for (const token of limited) {
      for (const [method, path, body] of [
        ["GET", "/api/owners"],
        ["POST", "/api/owners", { channel: "app", id: "mallory" }],
        ["DELETE", "/api/owners?channel=slack&id=U1"],
        ["POST", "/api/owners/claim", { session: "agent:main:app:direct:carol" }],
      ] as const) {
        expect((await send(token, method, path, body)).status, `${token} ${method} ${path}`).toBe(403);
      }
      expect((await send(token, "GET", "/api/status")).text).not.toContain('"people"');
    }
    expect((await stage.varve.owners.list()).map((one) => one.id)).toEqual(["U1"]);
  });

  it("are refused when they are empty", async () => {
    for (const body of [{}, { channel: "app" }, { channel: "app", id: "" }, { channel: "app", id: "x", name: "y" }]) {
      expect((await send("machine", "POST", "/api/owners", body)).status).toBe(400);
    }
    expect((await send("machine", "POST", "/api/owners", { channel: "app", id: "  " })).status).toBe(400);
  });
});

it("a session of nobody is claimed for the owner, a person's is not", async () => {
  const { key } = await stage.varve.sessions.resolve(
    { key: "agent:main:notes:direct:n1" },
    { belongsTo: { itself: true } },
  );
  expect((await stage.varve.sessions.get(key)).audience).toBe("session:notes:n1");
  expect((await send("machine", "POST", "/api/owners/claim", { session: key })).status).toBe(200);
  expect((await stage.varve.sessions.get(key)).audience).toBeUndefined();
  const { key: persons } = await stage.varve.sessions.resolve({ channel: "app", peer: "erin" });
  const refused = await send("machine", "POST", "/api/owners/claim", { session: persons });
  expect([refused.status, errorOf(refused).code]).toEqual([403, "REFUSED"]);
  expect((await send("machine", "POST", "/api/owners/claim", { session: "agent:main:none:direct:x" })).status).toBe(
    404,
  );
});

it("the log says once who is unknown, and how to make them the owner", async () => {
  for (const text of ["Hello", "Again"]) {
    const from = { id: "99", name: "Eve\u001b[31m\nvarve owner add x" };
    await send("machine", "POST", "/api/turns", { channel: "signal", from, text });
  }
  const lines = stage.log.filter((one) => one.event === "person.unknown" && one.key.includes(":signal:"));
  expect(lines).toEqual([
    expect.objectContaining({
      person: expect.stringMatching(/signal 99$/),
      command: "varve owner add signal 99",
    }),
  ]);
  expect(JSON.stringify(lines[0])).not.toMatch(/"person":"[^"]*(\\n|\\u001b)/);
});

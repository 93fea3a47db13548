import { afterAll, beforeAll, expect, test } from "vitest";
import type { TurnResult } from "../../src/index.ts";
import { type ChatServer, lastUserText, modelSettings, startChatServer } from "../support/chat-server.ts";
import { type Stage, setStage, sha256 } from "./gateway-stage.ts";

let server: ChatServer;
let stage: Stage;
beforeAll(async () => {
  server = await startChatServer((body) => ({ text: `You said: ${lastUserText(body)}`, pieces: 5, delayMs: 5 }));
  stage = await setStage(
    {
      tokens: [
        { name: "all", token: sha256("all"), rights: ["read", "write", "admin"] },
        { name: "reader", token: sha256("reader"), rights: ["read"] },
        { name: "scoped", token: sha256("scoped"), rights: ["read", "write"], scopes: ["project:x"] },
        { name: "other", token: sha256("other"), rights: ["read", "write"], agent: "other" },
      ],
    },
    { config: { models: modelSettings(server.url), search: { embedder: "none" }, turn: { debounceMs: 0 } } },
  );
});
afterAll(async () => {
  await stage.end();
  await server.close();
});

/** The session of the person who writes. */
const ann = "agent:main:telegram:direct:5054873275";

const inbound = (text: string, id?: string) => ({
  channel: "telegram",
  from: { id: "5054873275", name: "Ann" },
  chat: { type: "direct", id: "5054873275" },
  text,
  ...(id === undefined ? {} : { id }),
});

test("a message is answered as JSON, and again with the same answer when it is sent again", async () => {
  const first = await stage.send("POST", "/api/turns", { token: "all", body: inbound("Hello", "1") });
  expect(first.status).toBe(200);
  expect(first.json).toMatchObject({
    state: "done",
    status: "replied",
    reply: "You said: Hello",
    key: ann,
    duplicate: false,
    model: "local/test-model",
  });
  const again = await stage.send("POST", "/api/turns", { token: "all", body: inbound("Hello", "1") });
  expect(again.json).toEqual({ ...(first.json as object), duplicate: true });
  const { id } = first.json as { id: string };
  const later = await stage.send("GET", `/api/turns/${id}?wait=1`, { token: "all" });
  expect(later.json).toEqual(first.json);
});

test("heartbeats and scheduled runs are turns", async () => {
  const body = { kind: "cron", job: "nightly", run: "r1", text: "Write the report." };
  const run = await stage.send("POST", "/api/turns", { token: "all", body });
  expect(run.json).toMatchObject({ status: "replied", key: "cron:nightly", reply: "You said: Write the report." });
  const beat = await stage.send("POST", "/api/turns", {
    token: "all",
    body: { ...inbound("Anything to do?"), kind: "heartbeat" },
  });
  expect(beat.json).toMatchObject({ status: "replied", key: ann });
  const refused = await stage.send("POST", "/api/turns", { token: "all", body: { kind: "cron", text: "Write." } });
  expect(refused.status).toBe(400);
});

test("a message is answered as a stream", async () => {
  const answer = await fetch(`${stage.gateway.url}/api/turns`, {
    method: "POST",
    headers: { authorization: "Bearer all", accept: "text/event-stream", "content-type": "application/json" },
    body: JSON.stringify(inbound("Stream this")),
  });
  expect(answer.headers.get("content-type")).toContain("text/event-stream");
  const events = (await answer.text())
    .split("\n\n")
    .filter(Boolean)
    .map(
      (block) => JSON.parse(block.split("data: ")[1] ?? "{}") as { type: string; text?: string; result?: TurnResult },
    );
  expect(events[0]?.type).toBe("accepted");
  expect(events.filter((event) => event.type === "text").length).toBeGreaterThan(2);
  const text = events.map((event) => (event.type === "text" ? event.text : "")).join("");
  expect(text).toBe("You said: Stream this");
  expect(events.at(-1)).toMatchObject({ type: "ended", result: { status: "replied", reply: text } });
});

test("a token of one agent talks to that agent only, and a reader talks to nobody", async () => {
  const other = await stage.send("POST", "/api/turns", { token: "other", body: inbound("Hi") });
  expect(other.json).toMatchObject({ agent: "other", key: "agent:other:telegram:direct:5054873275" });
  const refused = await stage.send("POST", "/api/turns", { token: "reader", body: inbound("Hi") });
  expect(refused.status).toBe(403);
  const scoped = await stage.send("POST", "/api/turns", { token: "scoped", body: inbound("What do you know?") });
  expect(scoped.status).toBe(403);
  const foreign = await stage.send("POST", "/api/turns", {
    token: "other",
    body: { session: "agent:main:main", text: "Hi" },
  });
  expect(foreign.status).toBe(403);
  const { id } = other.json as { id: string };
  expect((await stage.send("GET", `/api/turns/${id}?agent=main`, { token: "all" })).status).toBe(404);
});

test("what cannot be a message is refused with what is wrong", async () => {
  for (const body of [
    {},
    { text: "" },
    { text: "x", chat: { type: "pub", id: "1" } },
    { text: "x", attachments: [{}] },
    { text: "x", nonsense: 1 },
  ]) {
    const answer = await stage.send("POST", "/api/turns", { token: "all", body });
    expect(answer.status, JSON.stringify(body)).toBe(400);
    expect((answer.json as { error: { message: string } }).error.message.length).toBeGreaterThan(5);
  }
});

test("metrics are for tokens that may read everything, in Prometheus's format", async () => {
  expect((await stage.send("GET", "/metrics")).status).toBe(401);
  expect((await stage.send("GET", "/metrics", { token: "other" })).status).toBe(403);
  const { text, headers } = await stage.send("GET", "/metrics", { token: "reader" });
  expect(headers["content-type"]).toContain("text/plain");
  expect(text).toMatch(/^varve_turns_total\{status="replied"\} \d+$/m);
  expect(text).toMatch(/^varve_model_calls_total\{purpose="chat",model="local\/test-model"\} \d+$/m);
  for (const line of text.trim().split("\n")) {
    expect(line).toMatch(
      /^(?:# (?:HELP|TYPE) varve_[a-z_]+ .+|varve_[a-z_]+(?:\{[a-z]+="[^"]*"(?:,[a-z]+="[^"]*")*\})? [-0-9.e+]+)$/,
    );
  }
});

test("the jobs that follow a turn are listed for those who may see the agent", async () => {
  // Nothing runs the job before it is listed.
  await stage.varve.jobs.stop();
  const session = await stage.varve.sessions.get(ann);
  await stage.varve.context.afterTurn(session);
  const { json } = await stage.send("GET", "/api/jobs?state=waiting", { token: "reader" });
  const { jobs } = json as { jobs: { kind: string; key: string; state: string }[] };
  expect(jobs).toContainEqual(expect.objectContaining({ kind: "compact turn", key: session.key, state: "waiting" }));
  expect((await stage.send("GET", "/api/jobs", { token: "other" })).text).not.toContain(session.key);
});

test("a token that used up its model tokens of the day waits, and others go on", async () => {
  const token = (name: string) => ({ name, token: sha256(name), rights: ["read" as const, "write" as const] });
  const limited = await setStage(
    { quotas: { tokensPerDay: 10 }, tokens: [token("first"), token("second")] },
    { config: { models: modelSettings(server.url), search: { embedder: "none" }, turn: { debounceMs: 0 } } },
  );
  try {
    const ask = (name: string, id: string) =>
      limited.send("POST", "/api/turns", { token: name, body: { id, session: "agent:main:spend", text: "Hello" } });
    expect((await ask("first", "1")).json).toMatchObject({ status: "replied" });
    const refused = await ask("first", "2");
    expect(refused.status).toBe(429);
    expect(refused.text).toContain("gateway.quotas.tokensPerDay");
    expect((await ask("second", "3")).json).toMatchObject({ status: "replied" });
  } finally {
    await limited.end();
  }
});

/** Tokens that are bound to an agent or to some memory scopes, on every way to a memory. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Stage, setStage, sha256 } from "./gateway-stage.ts";

const secret = "SECRET-51c9";
let stage: Stage;
const key = "agent:main:notes";
const keyPath = `/api/sessions/${encodeURIComponent(key)}`;

beforeAll(async () => {
  const token = (name: string, rest: object) => ({
    name,
    token: sha256(name),
    rights: ["read" as const, "write" as const],
    ...rest,
  });
  stage = await setStage(
    {
      requestsPerMinute: 100_000,
      tokens: [
        { ...token("all", {}), rights: ["read", "write", "admin"] },
        token("project", { scopes: ["project:x"] }),
        token("bound-project", { agent: "main", scopes: ["project:x"] }),
        token("nothing", { scopes: [] }),
        token("bound", { agent: "main" }),
        { ...token("bound-admin", { agent: "main" }), rights: ["read", "write", "admin"] },
      ],
    },
    { config: { search: { embedder: "none" }, turn: { runner: "offline", debounceMs: 0 } } },
  );
  const { varve } = stage;
  const session = await varve.sessions.resolve({ key });
  await varve.context.ingest(session, [{ role: "user", content: "Good morning." }]);
  await varve.memory.add({ text: `The code of the vault is ${secret}.`, force: true });
  await varve.memory.add({ text: `The vault lesson is ${secret}.`, scope: "reflection:agent:main", force: true });
  await varve.memory.add({ text: "The vault of project x is empty.", scope: "project:x", force: true });
});
afterAll(() => stage.end());

const limited = ["project", "bound-project", "nothing"];

describe("a token with scopes", () => {
  it("assembles no memory of other scopes into a prompt, not even one of an earlier turn", async () => {
    const prompt = "prompt=What%20is%20the%20code%20of%20the%20vault%3F";
    const full = await stage.send("GET", `${keyPath}/context/assembled?${prompt}&record=1`, { token: "all" });
    expect(full.text).toContain(secret);
    for (const token of limited) {
      for (const query of [prompt, `${prompt}&record=1`, "budget=4000"]) {
        const answer = await stage.send("GET", `${keyPath}/context/assembled?${query}`, { token });
        expect(answer.status, token).toBe(200);
        expect(answer.text, `${token} ${query}`).not.toContain(secret);
      }
    }
    const own = await stage.send("GET", `${keyPath}/context/assembled?${prompt}`, { token: "project" });
    expect(own.text).toContain("project x is empty");
  });

  it("finds no memory of other scopes in lists, searches and reflections", async () => {
    const { memories } = (await stage.send("GET", "/api/memories", { token: "all" })).json as {
      memories: { id: string }[];
    };
    for (const token of limited) {
      for (const agent of ["", "agent=main&"]) {
        for (const path of [
          `/api/memories?${agent}history=1`,
          `/api/memories?${agent}scope=reflection:agent:main`,
          `/api/memories/search?${agent}query=vault&history=1`,
          `/api/search?${agent}q=vault`,
          `/api/memories/review?${agent}refused=1`,
          `/api/memories/stats?${agent}`,
          ...memories.map(({ id }) => `/api/memories/${id}?${agent}`),
          ...memories.map(({ id }) => `/api/memories/${id}/history?${agent}`),
        ]) {
          const answer = await stage.send("GET", path, { token });
          expect(answer.text, `${token} ${path}`).not.toContain(secret);
        }
      }
    }
  });

  it("gets no reply of a turn, neither asked for nor as an event", async () => {
    const accepted = await stage.send("POST", "/api/turns", {
      token: "project",
      body: { session: key, text: "What is the code of the vault?" },
    });
    expect(accepted.status).toBe(403);
    const readers = [await readEvents("project"), await readEvents("all")];
    await stage.send("POST", "/api/turns", {
      token: "all",
      body: { session: key, text: "What is the code of the vault?" },
    });
    const [limitedText = "", fullText] = await Promise.all(readers.map((read) => read()));
    expect(fullText).toContain(secret);
    expect(limitedText).toContain("turn.ended");
    expect(limitedText).not.toContain(secret);
  });
});

/** Opens the event stream; the result reads it until the end of a turn. */
async function readEvents(token: string): Promise<() => Promise<string>> {
  const response = await fetch(`${stage.gateway.url}/api/events`, { headers: { authorization: `Bearer ${token}` } });
  if (!response.body) throw new Error("There is no stream.");
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  return async () => {
    for (;;) {
      const { value, done } = await reader.read();
      text += value ?? "";
      if (done || /event: turn\.ended[\s\S]*?\n\n/.test(text)) break;
    }
    await reader.cancel();
    return text;
  };
}

describe("a token that is bound to an agent", () => {
  it("reads what all agents share and cannot change it", async () => {
    const { current } = await stage.varve.memory.add({ text: "The sky is blue.", scope: "global", force: true });
    for (const token of ["bound", "bound-admin"]) {
      const path = `/api/memories/${current.id}`;
      expect((await stage.send("GET", path, { token })).status).toBe(200);
      const attempts = [
        await stage.send("PATCH", path, { token, body: { text: "The sky is green." } }),
        await stage.send("POST", `${path}/forget`, { token, body: {} }),
        await stage.send("POST", `${path}/forget`, { token, body: { purge: true } }),
        await stage.send("POST", "/api/memories", { token, body: { text: "The sky is green.", scope: "global" } }),
      ];
      for (const { status, text } of attempts) {
        expect(status, text).toBeGreaterThanOrEqual(400);
        expect(status, text).toBeLessThan(500);
      }
    }
    const { memory } = await stage.varve.memory.get(current.id);
    expect(memory.content).toBe("The sky is blue.");
    expect(memory.forgottenAt).toBeUndefined();
  });

  it("is told that the evidence of another agent is withheld", async () => {
    const other = await stage.varve.sessions.resolve({ key: "agent:other:main" });
    await stage.varve.context.ingest(other, [
      { role: "user", content: `The river is the Elbe. And between us, the PIN is ${secret}.` },
    ]);
    const { current } = await stage.varve.memory.add({
      text: "The river is the Elbe.",
      scope: "global",
      agent: "other",
      session: other,
      force: true,
    });
    expect(current.sources.length).toBeGreaterThan(0);
    const bound = await stage.send("GET", `/api/memories/${current.id}`, { token: "bound" });
    expect(bound.json).toMatchObject({ evidence: [], withheld: [expect.stringMatching(/^msg#/)] });
    expect(bound.text).not.toContain(secret);
    const full = await stage.send("GET", `/api/memories/${current.id}`, { token: "all" });
    expect(full.text).toContain(secret);
  });
});

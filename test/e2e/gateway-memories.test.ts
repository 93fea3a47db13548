/** Memories over HTTP: kept, found, opened down to their words, changed and forgotten, within the scopes of a token. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Stage, setStage, sha256 } from "./gateway-stage.ts";

let stage: Stage;
beforeAll(async () => {
  const token = (
    name: string,
    rest: { rights: ("read" | "write" | "admin")[]; agent?: string; scopes?: string[] },
  ) => ({
    name,
    token: sha256(name),
    ...rest,
  });
  stage = await setStage({
    tokens: [
      token("all", { rights: ["read", "write", "admin"] }),
      token("worker", { rights: ["read", "write"] }),
      token("narrow", { rights: ["read", "write"], scopes: ["project:x"] }),
    ],
  });
});
afterAll(() => stage.end());

const send = async (method: string, path: string, body?: unknown, token = "all") =>
  stage.send(method, path, { token, ...(body === undefined ? {} : { body }) });

describe("memories", () => {
  let id = "";

  it("are drawn from a turn, found, and opened down to the words they rest on", async () => {
    await stage.varve.sessions.resolve({ key: "agent:main:http" });
    const messages = [{ role: "user", content: "Good. Remember that the gate code is 4711. Thanks." }];
    await send("POST", "/api/sessions/agent%3Amain%3Ahttp/turns", { key: "t1", messages });
    await stage.varve.jobs.drain();
    const found = await send("GET", "/api/memories/search?query=gate%20code");
    expect(found.json).toMatchObject({
      mode: "words and vectors",
      hits: [{ memory: { content: "Remember that the gate code is 4711." } }],
    });
    id = (found.json as { hits: { memory: { id: string } }[] }).hits[0]?.memory.id ?? "";
    expect((await send("GET", `/api/memories/${id}`)).json).toMatchObject({
      memory: { id, extractor: "rules" },
      evidence: [{ quote: "Remember that the gate code is 4711.", text: messages[0]?.content, role: "user" }],
      missing: [],
      curve: expect.arrayContaining([{ day: 0, worth: expect.any(Number) }]),
    });
    expect((await send("GET", "/api/memories?category=entities&limit=5")).json).toMatchObject({ total: 1 });
    expect((await send("GET", "/api/memories/stats")).json).toMatchObject({ current: 1, byExtractor: { rules: 1 } });
    expect((await send("GET", "/api/memories/review")).json).toEqual({ reviews: [] });
  });

  it("come with a prompt, and are written down as shown only when that is asked for", async () => {
    const path =
      "/api/sessions/agent%3Amain%3Ahttp/context/assembled?budget=8000&prompt=What%20is%20the%20gate%20code%3F";
    expect((await send("GET", path)).text).toContain("<memories ");
    const session = await stage.varve.sessions.get("agent:main:http");
    expect(await stage.varve.memory.shown(session)).toEqual([]);
    await send("GET", `${path}&record=1`);
    expect(await stage.varve.memory.shown(session)).toMatchObject([{ memories: [id] }]);
  });

  it("are known again, changed by versions, and forgotten", async () => {
    const kept = await send("POST", "/api/memories", { text: "The gate code is 4711." }, "worker");
    expect(kept.json).toMatchObject({ decision: "skip", current: { id } });
    const changed = await send("PATCH", `/api/memories/${id}`, { text: "The gate code is 9000." }, "worker");
    const next = (changed.json as { id: string }).id;
    expect(changed.json).toMatchObject({ version: 2, supersedes: id });
    expect((await send("PATCH", `/api/memories/${id}`, { text: "x" })).status).toBe(409);
    expect((await send("GET", `/api/memories/${next}/history`)).json).toMatchObject({
      versions: [{ id }, { id: next }],
    });
    const forgotten = await send("POST", `/api/memories/${next}/forget`, {}, "worker");
    expect(forgotten.json).toEqual({ memories: [next], purged: false, backups: [] });
    expect((await send("GET", "/api/memories")).json).toMatchObject({ total: 0 });
    expect((await send("GET", "/api/memories?history=1")).json).toMatchObject({ total: 2 });
    expect((await send("POST", `/api/memories/${next}/forget`, { purge: true }, "worker")).status).toBe(403);
    expect((await send("POST", `/api/memories/${next}/forget`, { purge: true })).json).toMatchObject({ purged: true });
    expect((await send("GET", `/api/memories/${next}`)).status).toBe(404);
  });

  it("of other scopes are closed to a token that is bound to some", async () => {
    const own = await send("POST", "/api/memories", { text: "The secret is HERON." });
    const { current } = own.json as { current: { id: string } };
    const narrow = (method: string, path: string, body?: unknown) => send(method, path, body, "narrow");
    for (const path of [
      "/api/memories?history=1",
      "/api/memories/search?query=secret",
      "/api/memories?scope=agent:main",
    ]) {
      const answer = await narrow("GET", path);
      expect(answer.status).toBe(200);
      expect(answer.text).not.toContain("HERON");
    }
    expect((await narrow("GET", `/api/memories/${current.id}`)).status).toBe(404);
    expect((await narrow("POST", "/api/memories", { text: "x is y", scope: "agent:main" })).status).toBe(403);
    expect((await narrow("POST", "/api/memories", { text: "x is y" })).status).toBe(403);
    expect((await narrow("POST", "/api/memories", { text: "x is y", scope: "project:x" })).status).toBe(200);
  });
});

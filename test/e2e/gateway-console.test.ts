/** The routes that the console needs, which everybody can use. */
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createStory } from "../../src/cli/demo-story.ts";
import { startGateway } from "../../src/http/index.ts";
import { type Stage, setStage, sha256 } from "./gateway-stage.ts";

const key = "agent:main:boat";
const path = `/api/sessions/${encodeURIComponent(key)}`;

interface Layer {
  kind: string;
  id: string;
  depth: number;
  firstSeq: number;
  lastSeq: number;
  messages: number;
}
interface EntryPage {
  entries: { seq: number; id: string; time: number }[];
  before?: number;
  after?: number;
}

describe("routes of the console", () => {
  let stage: Stage;
  let allowed: string;
  const story = createStory();
  const get = async <T>(url: string, token = "all"): Promise<T> => {
    const answer = await stage.send("GET", url, { token });
    expect(answer.status, `${url}: ${answer.text}`).toBe(200);
    return answer.json as T;
  };
  const post = async <T>(url: string, body: unknown = {}, status = 200): Promise<T> => {
    const answer = await stage.send("POST", url, { token: "all", body });
    expect(answer.status, `${url}: ${answer.text}`).toBe(status);
    return answer.json as T;
  };
  beforeAll(async () => {
    stage = await setStage(
      {
        requestsPerMinute: 100_000,
        tokens: [
          { name: "all", token: sha256("all"), rights: ["admin"] },
          { name: "reader", token: sha256("reader"), rights: ["read"] },
          { name: "other", token: sha256("other"), rights: ["read", "write"], agent: "other" },
        ],
      },
      { config: { import: { folders: ["~/nowhere"] } } },
    );
    allowed = join(stage.home, "allowed");
    mkdirSync(allowed);
    stage.varve.settings.config.import.folders.splice(0, 1, allowed);
    const session = await stage.varve.sessions.resolve({ key });
    await stage.varve.sessions.update(session, { displayName: "Work on the boat" });
    await stage.varve.context.ingest(session, story);
    await stage.varve.context.compact(session, { budgetTokens: 3_000 });
  });
  afterAll(() => stage.end());

  it("gives layers that cover every message once, at every level", async () => {
    const whole = await get<{ layers: Layer[]; messages: number; isEstimated: boolean }>(`${path}/layers`);
    expect(whole).toMatchObject({ messages: story.length, isEstimated: false });
    const sum = (layers: Layer[]) => layers.reduce((total, layer) => total + layer.messages, 0);
    expect(sum(whole.layers)).toBe(story.length);
    const open = async (layer: Layer): Promise<Layer[]> => {
      if (layer.kind === "message") return [layer];
      const query = layer.kind === "summary" ? `summary=${layer.id}` : `from=${layer.firstSeq}&to=${layer.lastSeq}`;
      const { layers } = await get<{ layers: Layer[] }>(`${path}/layers?${query}`);
      expect(sum(layers)).toBe(layer.messages);
      return (await Promise.all(layers.map(open))).flat();
    };
    const messages = (await Promise.all(whole.layers.map(open))).flat();
    expect(new Set(messages.map(({ id }) => id)).size).toBe(story.length);
    expect(Math.max(...whole.layers.map(({ depth }) => depth))).toBeGreaterThan(1);
  });

  it("draws runs when there are more messages than layers, and counts them", async () => {
    const { layers } = await get<{ layers: Layer[] }>(`${path}/layers?from=1&to=1000&limit=20`);
    expect(layers.length).toBeLessThanOrEqual(20);
    expect(layers.some(({ kind }) => kind === "messages")).toBe(true);
    expect(layers.reduce((total, { messages }) => total + messages, 0)).toBe(story.length);
  });

  it("opens no summary of another conversation through this one", async () => {
    const other = await stage.varve.sessions.resolve({ key: "agent:main:bare" });
    await stage.varve.context.ingest(other, [{ role: "user", content: "Hello." }]);
    const { layers } = await get<{ layers: Layer[] }>(`${path}/layers`);
    const answer = await stage.send("GET", `/api/sessions/agent%3Amain%3Abare/layers?summary=${layers[0]?.id}`, {
      token: "all",
    });
    expect(answer.status).toBe(404);
  });

  it("gives tiny cores of many sessions in one request, and none of another agent", async () => {
    const { cores } = await post<{ cores: { key: string; summaries: { messages: number }[]; tail: number }[] }>(
      "/api/sessions/cores",
      { keys: [key, "agent:main:missing"] },
    );
    expect(cores.map((core) => core.key)).toEqual([key]);
    expect(cores[0]!.summaries.reduce((total, { messages }) => total + messages, 0) + cores[0]!.tail).toBe(
      story.length,
    );
    const foreign = await stage.send("POST", "/api/sessions/cores", { token: "other", body: { keys: [key] } });
    expect(foreign.json).toEqual({ cores: [] });
  });

  it("pages through messages backwards, forwards, around a place and a time, without gaps", async () => {
    const last = await get<EntryPage>(`${path}/messages?limit=10`);
    const before = await get<EntryPage>(`${path}/messages?limit=10&before=${last.before}`);
    const after = await get<EntryPage>(`${path}/messages?limit=10&after=${before.entries.at(-1)!.seq}`);
    expect(after.entries).toEqual(last.entries);
    const seqs: number[] = [];
    for (let cursor: number | undefined = 0; cursor !== undefined; ) {
      const page: EntryPage = await get<EntryPage>(`${path}/messages?limit=100&after=${cursor}`);
      seqs.push(...page.entries.map(({ seq }) => seq));
      cursor = page.after;
    }
    expect(seqs.length).toBe(story.length);
    expect(seqs).toEqual([...new Set(seqs)].sort((a, b) => a - b));
    const around = await get<EntryPage>(`${path}/messages?limit=10&around=${seqs[100]}`);
    expect(around.entries.map(({ seq }) => seq)).toEqual(seqs.slice(95, 105));
    const time = story[50]!.time!;
    const at = await get<EntryPage>(`${path}/messages?limit=4&at=${new Date(time).toISOString()}`);
    expect(at.entries.find((entry) => entry.time >= time)?.id).toBe(story[50]!.id);
  });

  it("reads another branch, and lists forks where they part", async () => {
    const session = await stage.varve.sessions.resolve({ key: "agent:main:branches" });
    await stage.varve.context.ingest(session, [
      { id: "a", role: "user", content: "A" },
      { id: "b", role: "assistant", content: "B" },
    ]);
    await stage.varve.context.ingest(session, [{ id: "c", role: "assistant", content: "C" }], { after: "a" });
    const { session: fork } = await stage.varve.sessions.fork(session);
    const url = "/api/sessions/agent%3Amain%3Abranches";
    const { branches, forks } = await get<{
      branches: { branch: number; active: boolean }[];
      forks: { key: string }[];
    }>(`${url}/branches`);
    expect(forks.map((one) => one.key)).toEqual([fork.key]);
    const ids = async (query: string) => (await get<EntryPage>(`${url}/messages?${query}`)).entries.map(({ id }) => id);
    expect(await ids("limit=10")).toEqual(["a", "c"]);
    const inactive = branches.find(({ active }) => !active)!.branch;
    expect(await ids(`limit=10&branch=${inactive}`)).toEqual(["a", "b"]);
    expect(await ids(`limit=10&after=0&branch=${inactive}`)).toEqual(["a", "b"]);
  });

  it("sorts sessions in pages, and matches names and folders", async () => {
    for (const [index, name] of ["Alpha", "beta", "Gamma 100%"].entries()) {
      const session = await stage.varve.sessions.resolve({ key: `agent:main:sorted-${index}` });
      await stage.varve.sessions.update(session, { displayName: name });
    }
    interface List {
      sessions: { key: string; displayName?: string; messageCount: number }[];
      next?: string;
    }
    for (const sort of ["recent", "name", "messages", "tokens", "created"]) {
      const whole = await get<List>(`/api/sessions?sort=${sort}&limit=1000`);
      const keys: string[] = [];
      for (let next: string | undefined = ""; next !== undefined; ) {
        const page: List = await get<List>(`/api/sessions?sort=${sort}&limit=2${next === "" ? "" : `&after=${next}`}`);
        keys.push(...page.sessions.map((one) => one.key));
        next = page.next;
      }
      expect(keys, sort).toEqual(whole.sessions.map((one) => one.key));
    }
    const named = (await get<List>("/api/sessions?sort=name")).sessions.map(({ displayName }) => displayName);
    expect(named.slice(0, 3)).toEqual(["Alpha", "beta", "Gamma 100%"]);
    const matched = async (text: string) =>
      (await get<List>(`/api/sessions?match=${encodeURIComponent(text)}`)).sessions.map(
        ({ displayName }) => displayName,
      );
    expect(await matched("BETA")).toEqual(["beta"]);
    expect(await matched("100%")).toEqual(["Gamma 100%"]);
    expect(await matched("%a%b%")).toEqual([]);
    const wrong = await stage.send("GET", "/api/sessions?sort=name&after=eA", { token: "all" });
    expect(wrong.status).toBe(400);
  });

  it("filters a search by role, mode and time, says who spoke, and opens citations", async () => {
    interface Found {
      results: { kind: string; citation: string; role?: string; sessionTitle?: string; time: number }[];
      cut: string[];
    }
    const found = await get<Found>("/api/search?q=spare+key+of+the+boathouse&kind=message&role=user&mode=words");
    expect(found.results.length).toBeGreaterThan(0);
    for (const result of found.results)
      expect(result).toMatchObject({ role: "user", sessionTitle: "Work on the boat" });
    expect(found.cut.join()).toContain("role and the person");
    const past = await get<Found>("/api/search?q=spare+key&kind=message&asOf=2026-03-01");
    expect(past.results).toEqual([]);
    const { citation } = found.results[0]!;
    const place = await get(`/api/citations/${encodeURIComponent(citation)}`);
    expect(place).toMatchObject({ kind: "message", sessionKey: key, seq: Number(citation.slice(4)) });
    expect((await stage.send("GET", `/api/citations/${encodeURIComponent(citation)}`, { token: "other" })).status).toBe(
      404,
    );
  });

  it("tells who asks, and with which rights", async () => {
    expect(await get("/api/me", "reader")).toMatchObject({
      name: "reader",
      rights: ["read"],
      agent: "main",
      bound: false,
    });
    expect(await get("/api/me", "other")).toMatchObject({ rights: ["read", "write"], agent: "other", bound: true });
  });

  it("gives the curve of a memory, which falls, and takes a forgotten one back", async () => {
    const { current } = await stage.varve.memory.add({ text: "The sail has a tear along the third seam." });
    const curve = await get<{ worth: number; points: { time: number; worth: number }[] }>(
      `/api/memories/${current.id}/decay?days=30`,
    );
    for (const [index, point] of curve.points.entries()) {
      const next = curve.points[index + 1];
      if (next) expect(next.worth).toBeLessThanOrEqual(point.worth);
    }
    expect((await stage.send("POST", `/api/memories/${current.id}/restore`, { token: "all" })).status).toBe(409);
    await post(`/api/memories/${current.id}/forget`);
    await post(`/api/memories/${current.id}/restore`);
    const { memories } = await get<{ memories: { id: string }[] }>("/api/memories");
    expect(memories.map(({ id }) => id)).toContain(current.id);
    expect(await get("/api/memories/conflicts")).toEqual({ conflicts: [] });
  });

  it("imports an upload that comes in parts, once, and leaves no copy of it", async () => {
    const { id } = await post<{ id: string }>("/api/imports/uploads", undefined, 201);
    const bytes = Buffer.from(
      story
        .slice(0, 8)
        .map((one) => `${JSON.stringify({ ...one, id: `up ${one.id}` })}\n`)
        .join(""),
    );
    const half = Math.floor(bytes.byteLength / 2);
    const send = (offset: number, body: Buffer) =>
      stage.send(
        "POST",
        `/api/imports/uploads/${id}/files?index=0&name=${encodeURIComponent("../../up.jsonl")}&offset=${offset}`,
        {
          token: "all",
          body,
          headers: { "content-type": "application/octet-stream" },
        },
      );
    expect((await send(0, bytes.subarray(0, half))).json).toEqual({ received: half });
    const repeated = await send(0, bytes.subarray(0, half));
    expect(repeated.status).toBe(409);
    expect((repeated.json as { error: { details: unknown } }).error.details).toEqual({ offset: half });
    expect((await send(half, bytes.subarray(half))).status).toBe(200);
    const started = await post<{ id: string; label: string }>("/api/imports", { upload: id }, 201);
    expect(started.label).toBe("up.jsonl");
    const done = async () =>
      (
        await get<{ imports: { id: string; state: string; report?: { imported: number } }[] }>("/api/imports")
      ).imports.find((one) => one.id === started.id);
    await expect.poll(async () => (await done())?.state).toBe("done");
    expect((await done())?.report?.imported).toBe(8);
    expect((await stage.send("POST", "/api/imports", { token: "all", body: { upload: id } })).status).toBe(404);
    const { existsSync, readdirSync } = await import("node:fs");
    const uploads = join(stage.home, "uploads");
    expect(existsSync(uploads) ? readdirSync(uploads) : []).toEqual([]);
  });

  it("imports only from the folders of the settings, not through a link out of them", async () => {
    const outside = join(stage.home, "outside.jsonl");
    writeFileSync(outside, `${JSON.stringify({ role: "user", content: "outside" })}\n`);
    symlinkSync(outside, join(allowed, "link.jsonl"));
    const start = (folder: string) => stage.send("POST", "/api/imports", { token: "all", body: { folder } });
    expect((await start(outside)).status).toBe(403);
    expect((await start(join(allowed, "link.jsonl"))).status).toBe(403);
    expect((await start(join(allowed, "..", "outside.jsonl"))).status).toBe(403);
    expect((await start(join(allowed, "missing"))).status).toBe(404);
    expect((await stage.send("POST", "/api/imports", { token: "all", body: {} })).status).toBe(400);
    writeFileSync(join(allowed, "inside.jsonl"), `${JSON.stringify({ role: "user", content: "inside" })}\n`);
    expect((await start(join(allowed, "inside.jsonl"))).status).toBe(201);
  });

  it("checks a setting before it writes it, and says when it takes effect", async () => {
    const set = (value: string | null, check = false) =>
      stage.send("POST", "/api/config/log.level", { token: "all", body: { value, check } });
    const refused = await set("loud", true);
    expect(refused.status).toBeGreaterThanOrEqual(400);
    expect(refused.text).toContain("must be one of");
    expect((await set("warn", true)).json).toMatchObject({ value: "info", written: false });
    expect((await set("warn")).json).toMatchObject({ value: "warn", written: true, needsRestart: true });
    expect((await set(null)).json).toMatchObject({ value: "info", needsRestart: false });
    expect(
      (await stage.send("POST", "/api/config/no.such", { token: "all", body: { value: "1" } })).status,
    ).toBeGreaterThanOrEqual(400);
  });

  it("queues a failed job again, and lists backups, clients and warnings", async () => {
    expect((await stage.send("POST", "/api/jobs/nothing/retry", { token: "all" })).status).toBe(404);
    await post("/api/backup", undefined, 201);
    const { backups } = await get<{ backups: { bytes: number }[] }>("/api/backups");
    expect(backups.length).toBeGreaterThan(0);
    const { clients } = await get<{ clients: { kind: string; requests: number }[] }>("/api/clients");
    expect(clients.find(({ kind }) => kind === "api")?.requests).toBeGreaterThan(0);
    expect(await get("/api/warnings")).toEqual({ warnings: expect.any(Array) });
    expect(await post("/api/doctor", { fix: false })).toMatchObject({ findings: expect.any(Array) });
  });

  it("logs a browser in with an access token and its rights, until the token is revoked", async () => {
    const issued = await post<{ token: { id: string }; secret: string }>(
      "/api/tokens",
      { name: "phone", rights: ["read"] },
      201,
    );
    const origin = stage.gateway.url;
    const login = (token: string, headers: Record<string, string> = { origin }) =>
      stage.send("POST", "/auth", {
        body: `token=${token}`,
        headers: { "content-type": "application/x-www-form-urlencoded", ...headers },
      });
    expect((await login("wrong")).status).toBe(401);
    expect((await login(issued.secret, { origin: "http://evil.example" })).status).toBe(403);
    const done = await login(issued.secret);
    expect(done.status).toBe(303);
    const cookie = done.headers["set-cookie"]![0]!.split(";")[0]!;
    const me = () => stage.send("GET", "/api/me", { headers: { cookie } });
    expect((await me()).json).toMatchObject({ name: "phone", rights: ["read"] });
    await post(`/api/tokens/${issued.token.id}/revoke`);
    await expect.poll(async () => (await me()).status).toBe(401);
  });

  it("keeps a browser logged in when the gateway starts again, and stores no secret for it", async () => {
    const first = await fetch(stage.gateway.createLoginLink(), { redirect: "manual" });
    const cookie = first.headers.getSetCookie()[0]!.split(";")[0]!;
    const { readFileSync } = await import("node:fs");
    const file = readFileSync(join(stage.home, "gateway-logins.json"), "utf8");
    expect(file).not.toContain(cookie.split("=")[1]);
    const again = await startGateway(stage.varve, { port: 0 });
    try {
      const answer = await fetch(`${again.url}/api/me`, { headers: { cookie } });
      expect(answer.status).toBe(200);
    } finally {
      await again.close();
    }
  });
});

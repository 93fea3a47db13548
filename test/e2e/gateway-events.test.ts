import { afterAll, beforeAll, expect, it } from "vitest";
import { type Stage, setStage, sha256 } from "./gateway-stage.ts";

let stage: Stage;

beforeAll(async () => {
  stage = await setStage({
    requestsPerMinute: 100_000,
    tokens: [
      { name: "all", token: sha256("all"), rights: ["admin"] },
      { name: "other", token: sha256("other"), rights: ["read"], agent: "other" },
    ],
  });
});
afterAll(() => stage.end());

interface Heard {
  event: string;
  id: string;
  data: Record<string, unknown>;
}

/** Listens as a browser does, until told to stop. */
async function listen(headers: Record<string, string>): Promise<{ next(): Promise<Heard | undefined>; stop(): void }> {
  const stopping = new AbortController();
  const response = await fetch(`${stage.gateway.url}/api/events`, { headers, signal: stopping.signal });
  expect(response.headers.get("content-type")).toBe("text/event-stream");
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  return {
    stop: () => stopping.abort(),
    next: async () => {
      for (;;) {
        const end = text.indexOf("\n\n");
        if (end !== -1) {
          const block = text.slice(0, end);
          text = text.slice(end + 2);
          const field = (name: string) => new RegExp(`^${name}: (.*)$`, "m").exec(block)?.[1] ?? "";
          return { event: field("event"), id: field("id"), data: JSON.parse(field("data")) };
        }
        const { done, value } = await reader.read();
        if (done) return undefined;
        text += value;
      }
    },
  };
}

const say = (key: string, id: string) =>
  stage.send("POST", `/api/sessions/${key}/messages`, {
    token: "all",
    body: { messages: [{ id, role: "user", content: id }] },
  });

it("tells of appends and sessions as they happen, and again to a reader that comes back", async () => {
  const all = await listen({ authorization: "Bearer all" });
  expect((await all.next())?.event).toBe("ready");
  await stage.send("POST", "/api/sessions", { token: "all", body: { key: "agent:main:a" } });
  const created = await all.next();
  expect(created).toMatchObject({ event: "session.created", data: { key: "agent:main:a", agent: "main" } });
  await say("agent:main:a", "m1");
  await say("agent:main:a", "m1");
  await say("agent:main:a", "m2");
  expect(await all.next()).toMatchObject({ event: "messages.appended", data: { data: { entries: [{ id: "m1" }] } } });
  expect(await all.next()).toMatchObject({ event: "messages.appended", data: { data: { entries: [{ id: "m2" }] } } });
  all.stop();

  const back = await listen({ authorization: "Bearer all", "last-event-id": created?.id ?? "" });
  expect((await back.next())?.event).toBe("ready");
  expect(await back.next()).toMatchObject({ event: "messages.appended", data: { data: { entries: [{ id: "m1" }] } } });
  back.stop();

  const lost = await listen({ authorization: "Bearer all", "last-event-id": "another-run-7" });
  expect((await lost.next())?.event).toBe("ready");
  expect(await lost.next()).toMatchObject({ event: "dropped", data: { dropped: null } });
  lost.stop();
});

it("tells a token that is bound to an agent of that agent only", async () => {
  const other = await listen({ authorization: "Bearer other" });
  expect((await other.next())?.event).toBe("ready");
  await stage.send("POST", "/api/sessions", { token: "all", body: { key: "agent:main:b" } });
  await stage.send("POST", "/api/sessions", { token: "all", body: { key: "agent:other:b" } });
  expect(await other.next()).toMatchObject({ event: "session.created", data: { agent: "other" } });
  other.stop();
});

it("says how much is no longer kept", async () => {
  const first = await listen({ authorization: "Bearer all" });
  const ready = await first.next();
  first.stop();
  for (let index = 0; index < 1005; index += 1) await say("agent:main:a", `many${index}`);
  const back = await listen({ authorization: "Bearer all", "last-event-id": ready?.id ?? "" });
  expect((await back.next())?.event).toBe("ready");
  expect(await back.next()).toMatchObject({ event: "dropped", data: { dropped: 5 } });
  expect(await back.next()).toMatchObject({ data: { data: { entries: [{ id: "many5" }] } } });
  back.stop();
});

it("works in a browser that came in by the link, which works once", async () => {
  const link = stage.gateway.createLoginLink();
  const login = await fetch(link, { redirect: "manual" });
  expect(login.status).toBe(303);
  const [setCookie] = login.headers.getSetCookie();
  expect(setCookie).toMatch(/^varve_token=.*HttpOnly.*SameSite=Strict/);
  expect((await fetch(link, { redirect: "manual" })).status).toBe(401);
  expect((await fetch(`${stage.gateway.url}/auth?code=`, { redirect: "manual" })).status).toBe(401);
  const cookie = setCookie!.split(";")[0]!;

  const stream = await listen({ cookie });
  expect((await stream.next())?.event).toBe("ready");
  stream.stop();

  const page = await stage.send("GET", "/", { headers: { cookie } });
  expect(page.headers["content-security-policy"]).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self';/);
  expect(page.headers["content-security-policy"]).not.toContain("unsafe");
  expect(page.text).toContain('<script type="module"');
  expect((await stage.send("GET", "/")).text).toContain("varve start");

  const origin = stage.gateway.url;
  const body = { key: "agent:main:c" };
  const post = (headers: Record<string, string>) =>
    stage.send("POST", "/api/sessions", { headers: { cookie, ...headers }, body });
  expect((await post({})).status).toBe(403);
  expect((await post({ origin: "http://localhost:1" })).status).toBe(403);
  expect((await post({ origin, "sec-fetch-site": "same-site" })).status).toBe(403);
  const own = { origin, "sec-fetch-site": "same-origin" };
  expect((await post(own)).status).toBe(403);
  expect((await post({ ...own, "x-varve-request-token": "guessed" })).status).toBe(403);
  const { requestToken } = (await stage.send("GET", "/api/me", { headers: { cookie } })).json as {
    requestToken: string;
  };
  expect((await post({ ...own, "x-varve-request-token": requestToken })).status).toBe(201);
  expect((await stage.send("GET", "/api/status", { headers: { cookie, "sec-fetch-site": "cross-site" } })).status).toBe(
    403,
  );
  expect((await stage.send("GET", "/api/status", { headers: { cookie } })).status).toBe(200);
});

it("ends when the gateway closes", async () => {
  const stream = await listen({ authorization: "Bearer all" });
  expect((await stream.next())?.event).toBe("ready");
  await stage.gateway.close();
  expect(await stream.next()).toBeUndefined();
  await expect(fetch(`${stage.gateway.url}/health`)).rejects.toThrow();
});

it("one token cannot take the streams of another", async () => {
  const token = (name: string) => ({ name, token: sha256(name), rights: ["read" as const] });
  const limited = await setStage({
    tokens: [token("greedy"), token("modest")],
    maxStreams: 3,
    quotas: { streams: 2 },
  });
  const open = (name: string) =>
    fetch(`${limited.gateway.url}/api/events`, { headers: { authorization: `Bearer ${name}` } });
  const greedy = [await open("greedy"), await open("greedy"), await open("greedy")];
  expect(greedy.map(({ status }) => status)).toEqual([200, 200, 429]);
  expect(greedy[2]?.headers.get("retry-after")).toBe("5");
  expect((await greedy[2]?.text()) ?? "").toContain("gateway.quotas.streams");
  const modest = [await open("modest"), await open("modest")];
  expect(modest.map(({ status }) => status)).toEqual([200, 429]);
  expect((await modest[1]?.text()) ?? "").toContain("gateway.maxStreams");
  await limited.end();
});

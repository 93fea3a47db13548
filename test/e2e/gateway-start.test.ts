import { chmodSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { startGateway } from "../../src/http/index.ts";
import { openVarve, type Varve, VarveError } from "../../src/index.ts";
import { type Stage, scratchHome, setStage, sha256 } from "./gateway-stage.ts";

const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

async function staged(...given: Parameters<typeof setStage>): Promise<Stage> {
  const stage = await setStage(...given);
  ends.push(stage.end);
  return stage;
}

/** A deadline in milliseconds that only a broken test reaches. */
const never = 600_000;

const tokenOf = ({ gateway }: Stage): string => readFileSync(gateway.tokenFile!, "utf8").trim();

async function engine(home = scratchHome()): Promise<Varve> {
  const varve = await openVarve({ home });
  ends.push(async () => {
    await varve.close();
    rmSync(home, { recursive: true, force: true });
  });
  return varve;
}

it("guards a loopback address with a token file that only its owner may read, and keeps it", async () => {
  const varve = await engine();
  const first = await startGateway(varve, { port: 0 });
  const file = join(varve.settings.home, "gateway-token");
  expect(first.tokenFile).toBe(file);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const token = readFileSync(file, "utf8").trim();
  expect(Buffer.from(token, "base64url")).toHaveLength(32);
  const asked = await fetch(`${first.url}/api/config`, { headers: { authorization: `Bearer ${token}` } });
  expect(asked.status).toBe(200);
  await first.close();
  const second = await startGateway(varve, { port: 0, host: "localhost" });
  expect(readFileSync(file, "utf8").trim()).toBe(token);
  await second.close();
  chmodSync(file, 0o644);
  await expect(startGateway(varve, { port: 0 })).rejects.toMatchObject({
    code: "REFUSED",
    remedy: expect.stringContaining("chmod 600"),
  });
  chmodSync(file, 0o600);
  writeFileSync(file, "");
  await expect(startGateway(varve, { port: 0 })).rejects.toMatchObject({ code: "BAD_FILE" });
});

it("has the secret by which clients recognise it before its first request", async () => {
  const varve = await engine();
  const gateway = await startGateway(varve, { port: 0 });
  const file = join(varve.settings.home, "gateway-secret");
  expect(statSync(file).mode & 0o777).toBe(0o600);
  await gateway.close();
});

it("does not listen where others can reach it without tokens", async () => {
  const varve = await engine();
  for (const host of ["0.0.0.0", "::", "192.0.2.1", "example.com", "", "127.0.0.1.example"]) {
    await expect(startGateway(varve, { host, port: 0 }), host).rejects.toMatchObject({
      code: "REFUSED",
      remedy: expect.stringContaining("gateway.tokens"),
    });
  }
  const open = await staged({ tokens: [{ name: "t", token: sha256("t"), rights: ["read"] }] }, { host: "0.0.0.0" });
  expect(open.gateway.tokenFile).toBeUndefined();
  expect((await open.send("GET", "/api/status", { token: "t" })).status).toBe(200);
  expect((await open.send("GET", "/api/status")).status).toBe(401);
});

it("takes a token from the environment and says when it is missing", async () => {
  const tokens = [{ name: "t", token: "env:VARVE_TEST_GATEWAY_TOKEN", rights: ["read" as const] }];
  await expect(staged({ tokens })).rejects.toMatchObject({ code: "BAD_CONFIG" });
  process.env.VARVE_TEST_GATEWAY_TOKEN = "from the environment";
  try {
    const stage = await staged({ tokens });
    expect((await stage.send("GET", "/api/status", { token: "from the environment" })).status).toBe(401);
    process.env.VARVE_TEST_GATEWAY_TOKEN = "one-word";
    const again = await staged({ tokens });
    expect((await again.send("GET", "/api/status", { token: "one-word" })).status).toBe(200);
  } finally {
    delete process.env.VARVE_TEST_GATEWAY_TOKEN;
  }
});

it("says what to do when the port or the address cannot be had", async () => {
  const stage = await staged();
  const { port } = stage.gateway;
  await expect(startGateway(stage.varve, { port })).rejects.toMatchObject({
    code: "PORT_IN_USE",
    remedy: expect.stringContaining("--port"),
  });
  const withToken = await staged({ tokens: [{ name: "t", token: sha256("t"), rights: ["read"] }] });
  await expect(startGateway(withToken.varve, { host: "192.0.2.1", port: 0 })).rejects.toMatchObject({
    code: "BAD_CONFIG",
  });
});

it("lets a token make so many requests a minute, and an address guess so many tokens", async () => {
  const tokens = ["a", "b"].map((name) => ({ name, token: sha256(name), rights: ["read" as const] }));
  // The minute does not pass while the requests are made.
  const stage = await staged({ requestsPerMinute: 5, tokens }, { clock: { now: () => 0 } });
  const statuses = async (token: string) => {
    const found: number[] = [];
    for (let index = 0; index < 7; index += 1)
      found.push((await stage.send("GET", "/api/openapi.json", { token })).status);
    return found;
  };
  expect(await statuses("a")).toEqual([200, 200, 200, 200, 200, 429, 429]);
  expect(await statuses("guess")).toEqual([401, 401, 401, 401, 401, 429, 429]);
  const limited = await stage.send("GET", "/api/status", { token: "a" });
  expect(Number(limited.headers["retry-after"])).toBeGreaterThan(0);
  expect(limited.json).toMatchObject({ error: { code: "RATE_LIMITED" } });
  expect((await stage.send("GET", "/api/status", { token: "b" })).status).toBe(200);
});

it("gives up what takes too long", async () => {
  const wrap = (varve: Varve): Varve => ({ ...varve, status: () => new Promise(() => undefined) });
  const stage = await staged({ requestTimeoutMs: 1_000 }, { wrap });
  const slow = await stage.send("GET", "/api/status", { token: tokenOf(stage) });
  expect(slow.status).toBe(504);
  expect(slow.json).toMatchObject({ error: { code: "ABORTED" } });
});

it("keeps accidents to its log", async () => {
  const wrap = (varve: Varve): Varve => ({
    ...varve,
    status: () => Promise.reject(new Error("/secret/path broke")),
  });
  const stage = await staged({}, { wrap });
  const broken = await stage.send("GET", "/api/status", { token: tokenOf(stage) });
  expect(broken.status).toBe(500);
  expect(broken.text).not.toContain("secret");
  expect(stage.log.some((record) => record.event === "error" && String(record.error).includes("/secret/path"))).toBe(
    true,
  );
});

it("answers health with up or down and nothing else, and readiness with the code of the failure", async () => {
  let list: (() => Promise<never>) | undefined;
  const wrap = (varve: Varve): Varve => ({
    ...varve,
    sessions: { ...varve.sessions, list: (options) => list?.() ?? varve.sessions.list(options) },
  });
  let now = 0;
  const clock = { now: () => now };
  const patient = await staged({}, { wrap, clock, deadlines: { healthMs: never } });
  const hurried = await staged({}, { wrap, clock, deadlines: { healthMs: 1 } });
  expect((await patient.send("GET", "/health")).json).toEqual({ status: "up" });
  expect((await patient.send("GET", "/ready")).json).toEqual({ status: "ready" });
  const broken = () => Promise.reject(new VarveError("STORE_BUSY", "PostgreSQL at db.example is read-only."));
  const silent = () => new Promise<never>(() => undefined);
  for (const [stage, failure, code] of [
    [patient, broken, "STORE_BUSY"] as const,
    [hurried, silent, "STORE_UNREACHABLE"] as const,
  ]) {
    list = failure;
    now += 1000;
    const down = await stage.send("GET", "/health");
    expect(down.status).toBe(503);
    expect(down.json).toEqual({ status: "down" });
    const unready = await stage.send("GET", "/ready");
    expect(unready.status).toBe(503);
    expect(unready.json).toEqual({ status: "unavailable", code });
  }
});

/** A status that is not answered before it is released. */
function holdStatus(): { wrap: (varve: Varve) => Varve; asked: Promise<void>; release: () => void } {
  const { promise: asked, resolve: ask } = Promise.withResolvers<void>();
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const wrap = (varve: Varve): Varve => ({
    ...varve,
    status: async () => {
      ask();
      await released;
      return varve.status();
    },
  });
  return { wrap, asked, release };
}

it("lets running requests end before it closes", async () => {
  const held = holdStatus();
  const stage = await staged({}, { wrap: held.wrap, deadlines: { drainMs: never } });
  const running = stage.send("GET", "/api/status", { token: tokenOf(stage) });
  await held.asked;
  let isClosed = false;
  const closing = stage.gateway.close().then(() => {
    isClosed = true;
  });
  // It closes when it takes no more connections; the request is still under way then.
  const isOpen = () =>
    stage.send("GET", "/health").then(
      () => true,
      () => false,
    );
  while (await isOpen());
  expect(isClosed).toBe(false);
  held.release();
  expect((await running).status).toBe(200);
  await closing;
});

it("does not wait for running requests forever when it closes", async () => {
  const held = holdStatus();
  const stage = await staged({}, { wrap: held.wrap, deadlines: { drainMs: 1 } });
  const cut = expect(stage.send("GET", "/api/status", { token: tokenOf(stage) })).rejects.toThrow();
  await held.asked;
  await stage.gateway.close();
  await cut;
});

it("answers what is not HTTP, and what comes too slowly, in the same shape", async () => {
  const stage = await staged();
  const hurried = await staged({ requestTimeoutMs: 1_000 });
  const talk = (text: string, { gateway } = stage) =>
    new Promise<string>((resolve, reject) => {
      const socket = connect(gateway.port, "127.0.0.1", () => socket.write(text));
      let heard = "";
      socket.on("data", (chunk) => {
        heard += chunk;
      });
      socket.on("error", reject);
      socket.on("close", () => resolve(heard));
    });
  expect(await talk("nonsense\r\n\r\n")).toMatch(/^HTTP\/1.1 400 .*"code":"BAD_REQUEST"/s);
  expect(await talk("GET /health HTTP/1.1\r\nHost: 127.0.0.1", hurried)).toMatch(
    /^HTTP\/1.1 408 .*"code":"BAD_REQUEST"/s,
  );
  expect(await talk(`GET / HTTP/1.1\r\nHost: x\r\nX: ${"y".repeat(20_000)}\r\n\r\n`)).toMatch(/^HTTP\/1.1 431 /);
});

/** Every route of the OpenAPI document with hostile values in every parameter and body: an answer or an error, never a 500. */
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Answer, type Sent, type Stage, setStage, sha256 } from "../e2e/gateway-stage.ts";
import { databaseKinds, type ScratchDatabase, scratchDatabase } from "../support/databases.ts";
import { isLongRun } from "../support/long-run.ts";
import { type Rng, rngOf, seedOfRun } from "../support/rng.ts";
import { hostileText, hostileValue, mutateBytes, mutateJson } from "./hostile-values.ts";
import { type DocumentedRoute, readDocumentedRoutes } from "./routes.ts";

const seed = seedOfRun();
const requestsPerRoute = isLongRun ? 400 : 24;
const known: Record<string, string[]> = {};

const encodings = [
  encodeURIComponent,
  (text: string) => encodeURIComponent(text).replaceAll("%2F", "/"),
  (text: string) => encodeURIComponent(encodeURIComponent(text)),
  () => "%ff%fe",
  () => "%",
  () => "%00",
  () => "..%2f..%2fetc",
  () => ".",
  () => "..",
];

/** A text in a URL. A long one is cut: the request line has a limit of its own, which the tests of raw sockets reach. */
function encode(rng: Rng, text: string): string {
  const short = text.toWellFormed().slice(0, 2_000);
  return rng.int(0, 4) > 0 ? encodeURIComponent(short) : rng.pick(encodings)(short);
}

function hostilePath(rng: Rng, route: DocumentedRoute): string {
  const path = route.path.replace(/\{(\w+)\}/g, (_all, name: string) => {
    const existing = known[name];
    if (existing && rng.int(0, 2) > 0) return encodeURIComponent(rng.pick(existing));
    return encode(rng, hostileText(rng)) || "%20";
  });
  const query = route.query.flatMap(({ name, example }) => {
    const fate = rng.int(0, 5);
    if (fate === 0) return [];
    if (fate === 1) return [`${name}=${encodeURIComponent(example)}`];
    if (fate === 2) return [`${name}=${encode(rng, hostileText(rng))}`, `${name}=${encodeURIComponent(example)}`];
    return [`${name}=${encode(rng, hostileText(rng))}`];
  });
  if (rng.int(0, 4) === 0) query.push("__proto__=x", "constructor[prototype]=x", "=", "&&");
  return query.length === 0 ? path : `${path}?${query.join("&")}`;
}

function hostileBody(rng: Rng, route: DocumentedRoute): Partial<Sent> {
  if (route.body === undefined && rng.int(0, 3) > 0) return {};
  const good = route.body ?? {};
  const text = JSON.stringify(good);
  switch (rng.int(0, 9)) {
    case 0:
      return { body: mutateBytes(rng, Buffer.from(text)) };
    case 1:
      return { body: JSON.stringify(hostileValue(rng)) ?? "" };
    case 2:
      return { body: text, headers: { "content-type": rng.pick(["text/plain", "multipart/form-data", "x", ""]) } };
    case 3:
      return compressed(rng, text);
    case 4:
      return { body: rng.pick([`${"[".repeat(20_000)}${"]".repeat(20_000)}`, '{"content":'.repeat(20_000)]) };
    case 5:
      return { body: rng.pick(["", "[", "null", "0", '"x"', "{'a':1}", '{"a":1e999}', '{"__proto__":{"a":1}}']) };
    default:
      return { body: JSON.stringify(mutateJson(rng, good)) ?? "" };
  }
}

function compressed(rng: Rng, text: string): Partial<Sent> {
  const bomb = Buffer.alloc(8 * 1024 * 1024, " ");
  const [name, pack] = rng.pick([
    ["gzip", gzipSync],
    ["deflate", deflateSync],
    ["br", brotliCompressSync],
    ["nothing", Buffer.from],
  ] as const);
  const bytes = pack(rng.int(0, 1) === 0 ? Buffer.from(text) : bomb.subarray(0, rng.int(1, 8) * 1024));
  return { body: bytes, headers: { "content-encoding": name } };
}

/** What is wrong with an answer; undefined when nothing is. */
function findFault(answer: Answer): string | undefined {
  if (answer.status >= 500) return `${answer.status} ${answer.text.slice(0, 300)}`;
  if (answer.status < 400) return undefined;
  const { error, ...rest } = (answer.json ?? {}) as { error?: { code: string; message: string } };
  const isErrorForm = Object.keys(rest).length === 0 && /^[A-Z_]+$/.test(error?.code ?? "");
  const length = error?.message.length ?? 0;
  return isErrorForm && length > 5 && length < 4_000 ? undefined : `${answer.status} ${answer.text.slice(0, 300)}`;
}

describe.each(databaseKinds)(`hostile requests on %s (VARVE_TEST_SEED=${seed})`, (kind) => {
  let stage: Stage;
  let scratch: ScratchDatabase;
  let routes: DocumentedRoute[];

  beforeAll(async () => {
    scratch = await scratchDatabase(kind);
    const gateway = {
      requestsPerMinute: 10_000_000,
      bodyLimitBytes: 256 * 1024,
      tokens: [{ name: "all", token: sha256("all"), rights: ["read" as const, "write" as const, "admin" as const] }],
    };
    stage = await setStage(gateway, { config: { database: scratch.database } });
    routes = await readDocumentedRoutes(stage);
    const session = await stage.varve.sessions.resolve({ key: "agent:main:fuzz" });
    await stage.varve.context.ingest(session, [{ id: "m1", role: "user", content: "The valve is blue." }]);
    const { current } = await stage.varve.memory.add({ text: "The valve is blue.", force: true });
    known.key = [session.key, session.sessionId];
    known.id = ["m1", "msg#1", current.id];
  });
  afterAll(async () => {
    await stage.end();
    await scratch.drop();
  });

  test("no route answers with a 500, and every error has the error form", async () => {
    const faults: string[] = [];
    for (const route of routes) faults.push(...(await fuzzRoute(stage, route)));
    expect(faults, `seed ${seed}`).toEqual([]);
    const failures = stage.log.filter((record) => record.event === "error");
    expect(failures, `seed ${seed}`).toEqual([]);
  });

  test.each(["constructor", "__proto__", "toString"])(
    "an agent named %s has no settings that nobody made",
    async (agent) => {
      for (const path of ["/api/memories/stats", "/api/memories?q=valve", "/api/search?q=valve", "/api/sessions"]) {
        const answer = await stage.send("GET", `${path}${path.includes("?") ? "&" : "?"}agent=${agent}`, {
          token: "all",
        });
        expect(findFault(answer), path).toBeUndefined();
      }
    },
  );

  test("nothing that was sent reached a prototype, and the store is whole", async () => {
    expect(Object.getOwnPropertyNames(Object.prototype)).toHaveLength(12);
    expect(({} as Record<string, unknown>).a).toBeUndefined();
    const { findings } = await stage.varve.doctor();
    expect(findings.flatMap((finding) => finding.faults)).toEqual([]);
  });
});

/** Sends hostile requests to one route, then a good one; returns what was wrong with the answers. */
async function fuzzRoute(stage: Stage, route: DocumentedRoute): Promise<string[]> {
  const rng = rngOf(seed, route.method, route.path);
  const faults: string[] = [];
  for (let count = 0; count < requestsPerRoute; count += 1) {
    const path = hostilePath(rng, route);
    const sent = route.method === "GET" ? {} : hostileBody(rng, route);
    const fault = findFault(await stage.send(route.method, path, { token: "all", ...sent }));
    if (fault !== undefined) faults.push(`${route.method} ${path.slice(0, 300)} ${printBody(sent.body)}\n  ${fault}`);
  }
  const good = await stage.send("GET", "/api/sessions?limit=1", { token: "all" });
  if (good.status !== 200) faults.push(`after ${route.method} ${route.path}: ${good.status} ${good.text}`);
  return faults;
}

function printBody(body: unknown): string {
  if (body === undefined) return "";
  const text = Buffer.isBuffer(body) ? body.toString("latin1") : String(body);
  return `${JSON.stringify(text.slice(0, 400))} (${text.length})`;
}

/** Every route of the gateway's own document, tried by everyone who has no business there. New routes are covered as they come. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Session } from "../../src/index.ts";
import { type Answer, type Sent, type Stage, setStage, sha256 } from "./gateway-stage.ts";

interface Schema {
  $ref?: string;
  type?: string;
  example?: unknown;
  enum?: unknown[];
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
}
interface Operation {
  "x-varve-right": Right | Right[];
  parameters?: { name: string; in: string; required?: boolean; schema: Schema }[];
  requestBody?: { content: { "application/json": { schema: Schema } } };
  responses: Record<string, unknown>;
}
type Right = "read" | "write" | "admin";
interface Route {
  method: string;
  path: string;
  rights: Right[];
  body: unknown;
  statuses: number[];
}

const secretText = "SECRET-7f3a";
const stranger = "a token nobody gave out";
let stage: Stage;
let routes: Route[];
let places = 0;

beforeAll(async () => {
  const token = (
    name: string,
    rest: { rights: ("read" | "write" | "admin")[]; agent?: string; expiresAt?: string },
  ) => ({
    name,
    token: sha256(name),
    ...rest,
  });
  stage = await setStage({
    requestsPerMinute: 100_000,
    bodyLimitBytes: 2048,
    tokens: [
      token("all", { rights: ["read", "write", "admin"] }),
      token("reader", { rights: ["read"] }),
      token("writer", { rights: ["write"] }),
      token("worker", { rights: ["read", "write"] }),
      token("expired", { rights: ["read", "write", "admin"], expiresAt: "2020-01-01" }),
      token("foreign", { rights: ["read", "write", "admin"], agent: "other" }),
    ],
  });
  // Examples of bodies name the owner's session.
  await stage.varve.sessions.resolve({});
  routes = await readRoutes();
});
afterAll(() => stage.end());

async function readRoutes(): Promise<Route[]> {
  const { json } = await stage.send("GET", "/api/openapi.json", { token: "all" });
  const document = json as {
    paths: Record<string, Record<string, Operation>>;
    components: { schemas: Record<string, Schema> };
  };
  const exampleOf = (schema: Schema): unknown => {
    if (schema.$ref !== undefined) return exampleOf(document.components.schemas[schema.$ref.split("/").at(-1)!]!);
    if (schema.example !== undefined) return schema.example;
    if (schema.enum) return schema.enum[0];
    if (schema.type === "array") return [exampleOf(schema.items ?? {})];
    if (schema.type !== "object") return "x";
    return Object.fromEntries(
      (schema.required ?? []).map((name) => [name, exampleOf(schema.properties?.[name] ?? {})]),
    );
  };
  return Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => {
      const schema = operation.requestBody?.content["application/json"]?.schema;
      return {
        method: method.toUpperCase(),
        path: path + requiredQuery(operation),
        rights: [operation["x-varve-right"]].flat(),
        body: schema && exampleOf(schema),
        statuses: Object.keys(operation.responses).map(Number),
      };
    }),
  );
}

/** What a route cannot do without behind the question mark, from its own examples. */
function requiredQuery({ parameters = [] }: Operation): string {
  const wanted = parameters.filter((one) => one.in === "query" && one.required);
  // A pattern search must not find what the caller may not see.
  const sentAs = (name: string, schema: Schema) =>
    name === "pattern" || name === "q" ? secretText : String(schema.example);
  const query = new URLSearchParams(wanted.map(({ name, schema }): [string, string] => [name, sentAs(name, schema)]));
  return wanted.length === 0 ? "" : `?${query}`;
}

/** What a path's `{id}` stands for: an entry, an accepted message, a summary of it, a memory, or large content. */
async function idFor(route: Route, session: Session): Promise<string> {
  if (route.path.startsWith("/api/summaries/")) {
    const more = Array.from({ length: 8 }, (_, index) =>
      `${secretText} and some more words about it ${index}. `.repeat(6),
    );
    await stage.varve.context.ingest(
      session,
      more.map((content) => ({ role: "user", content })),
    );
    await stage.varve.context.compact(session);
    const [summary] = (await stage.varve.context.overview(session)).summaries;
    return summary?.id ?? "";
  }
  if (route.path.startsWith("/api/memories/")) {
    const { current } = await stage.varve.memory.add({ text: `The code is ${secretText} ${places}.`, force: true });
    if (route.path.endsWith("/restore")) await stage.varve.memory.forget({ id: current.id });
    return current.id;
  }
  if (route.path.startsWith("/api/turns/")) {
    const { id } = await stage.varve.turns.accept({ session: session.key, text: secretText, mentioned: false });
    return id;
  }
  if (route.path.startsWith("/api/citations/")) {
    const { entries } = await stage.varve.transcripts.read(session, { limit: 1 });
    return `msg%23${entries[0]?.seq}`;
  }
  if (!route.path.startsWith("/api/files/")) return "m1";
  await stage.varve.context.ingest(session, [{ role: "user", content: `${secretText} ${places} word `.repeat(9_000) }]);
  const found = await stage.varve.context.grep({ session, pattern: secretText, scope: "files" });
  return found.matches[0]?.citation ?? "";
}

/** A session with one message, of its own for every try; the path with it filled in. */
async function placeFor(route: Route): Promise<string> {
  places += 1;
  const session = await stage.varve.sessions.resolve({ key: `agent:main:walk-${places}` });
  await stage.varve.context.ingest(session, [{ id: "m1", role: "user", content: secretText }]);
  const id = await idFor(route, session);
  // There is something to restore.
  if (route.path.endsWith("/restore")) await stage.varve.sessions.renew(session, "new");
  return route.path
    .replace("{key}", encodeURIComponent(session.key))
    .replace("{id}", id)
    .replace("{setting}", "gateway.port");
}

function expectError(answer: Answer, statuses: number[], what: string): void {
  expect(statuses, `${what}: ${answer.text}`).toContain(answer.status);
  const { error, ...rest } = answer.json as { error: { code: string; message: string } };
  expect(rest, what).toEqual({});
  expect(error.code, what).toMatch(/^[A-Z_]+$/);
  expect(error.message.length, what).toBeGreaterThan(5);
  expect(answer.text, what).not.toContain(secretText);
  expect(answer.headers["x-content-type-options"], what).toBe("nosniff");
}

async function walk(
  sentFor: (route: Route) => Sent | undefined,
  check: (answer: Answer, route: Route, what: string) => void | Promise<void>,
): Promise<void> {
  for (const route of routes) {
    const sent = sentFor(route);
    if (!sent) continue;
    const path = await placeFor(route);
    const answer = await stage.send(route.method, path, { body: route.body, ...sent });
    await check(answer, route, `${route.method} ${route.path}`);
  }
}

describe("every route of the document", () => {
  it("is there, with its rights and bodies", () => {
    expect(routes.length).toBeGreaterThanOrEqual(20);
    for (const { method, path, rights } of routes) {
      expect(rights.length, `${method} ${path}`).toBeGreaterThan(0);
      for (const right of rights) expect(["read", "write", "admin"], `${method} ${path}`).toContain(right);
    }
    expect(routes.filter(({ rights }) => rights.includes("admin")).map((route) => route.path)).toEqual(
      expect.arrayContaining(["/api/doctor", "/api/backup", "/api/config"]),
    );
  });

  it("answers the right token as the document says", () =>
    walk(
      () => ({ token: "all" }),
      (answer, route, what) => expect(route.statuses, `${what}: ${answer.text}`).toContain(answer.status),
    ));

  it("needs a token", () =>
    walk(
      () => ({}),
      (answer, _route, what) => {
        expectError(answer, [401], what);
        expect(answer.headers["www-authenticate"], what).toMatch(/^Bearer/);
      },
    ));

  it("does not know a wrong token, wherever it is put", async () => {
    await walk(
      () => ({ token: stranger }),
      (answer, _route, what) => expectError(answer, [401], what),
    );
    const elsewhere: Record<string, string>[] = [
      { cookie: "varve_token=all" },
      { authorization: "Basic YWxsOmFsbA==" },
      { authorization: "all" },
    ];
    for (const headers of elsewhere) {
      await walk(
        () => ({ headers }),
        (answer, _route, what) => expectError(answer, [401], what),
      );
    }
    expectError(await stage.send("GET", "/api/status?token=all"), [401], "token in the query");
    expectError(await stage.send("GET", "/api/events?token=all"), [401], "token in the query");
  });

  it("is closed to an expired token", () =>
    walk(
      () => ({ token: "expired" }),
      (answer, _route, what) => {
        expectError(answer, [401], what);
        expect(answer.headers["www-authenticate"], what).toContain("invalid_token");
      },
    ));

  it("asks for its right", async () => {
    const refused = (answer: Answer, _route: Route, what: string) => expectError(answer, [403], what);
    const isOnly = (route: Route, right: Right) => route.rights.every((one) => one === right);
    await walk((route) => (isOnly(route, "read") ? undefined : { token: "reader" }), refused);
    await walk((route) => (isOnly(route, "write") ? undefined : { token: "writer" }), refused);
    await walk((route) => (route.rights.includes("admin") ? { token: "worker" } : undefined), refused);
  });

  it("tells a token without the right read nothing of what is stored", () =>
    walk(
      () => ({ token: "writer" }),
      (answer, _route, what) => expect(answer.text, what).not.toContain(secretText),
    ));

  it("shows a foreign agent's token nothing of this agent", async () => {
    for (const naming of ["key", "session id", "start of a session id", "agent"] as const) {
      for (const route of routes) {
        const path = await placeFor(route);
        const session = await stage.varve.sessions.get(`agent:main:walk-${places}`);
        const before = await stage.varve.transcripts.read(session);
        const name = {
          key: session.key,
          agent: session.key,
          "session id": session.sessionId,
          "start of a session id": session.sessionId.slice(0, 8),
        }[naming];
        const asked = path.replace(encodeURIComponent(session.key), encodeURIComponent(name));
        const query = naming === "agent" ? `${path.includes("?") ? "&" : "?"}agent=main` : "";
        const answer = await stage.send(route.method, asked + query, { token: "foreign", body: route.body });
        const what = `${route.method} ${route.path} by ${naming}`;
        if (/\{(?:key|id)\}/.test(route.path)) expectError(answer, [403, 404], what);
        else if (answer.status >= 400) expectError(answer, [400, 403], what);
        // An answer may repeat what was asked; it must not say that it is there.
        expect(answer.text.replace(`"query":"${secretText}"`, ""), what).not.toContain(secretText);
        expect(answer.text.replaceAll(session.key, "").includes("walk-"), what).toBe(false);
        const again = await stage.varve.sessions.get(session.key);
        expect(again, what).toEqual(session);
        expect(await stage.varve.transcripts.read(again), what).toEqual(before);
      }
    }
  });

  it("turns away a name that is not its own", () =>
    walk(
      () => ({ token: "all", headers: { host: `rebound.example:${stage.gateway.port}` } }),
      (answer, _route, what) => expectError(answer, [403], what),
    ));

  it("turns away pages of other sites", async () => {
    for (const origin of [
      "https://evil.example",
      "null",
      `http://localhost.evil.example:${stage.gateway.port}`,
      "http://127.0.0.1:1",
    ]) {
      await walk(
        () => ({ token: "all", headers: { origin } }),
        (answer, _route, what) => {
          expectError(answer, [403], `${what} from ${origin}`);
          expect(answer.headers["access-control-allow-origin"], what).toBeUndefined();
        },
      );
    }
  });

  it("does not read a body that is too large, whether it says so or not", async () => {
    const body = Buffer.from(JSON.stringify({ messages: "x".repeat(4096) }));
    const changing = (route: Route) => route.method !== "GET";
    await walk(
      (route) => (changing(route) ? { token: "all", body } : undefined),
      (answer, _route, what) => expectError(answer, [413], what),
    );
    for (const route of routes.filter(changing)) {
      const response = await fetch(`${stage.gateway.url}${await placeFor(route)}`, {
        method: route.method,
        headers: { authorization: "Bearer all", "content-type": "application/json" },
        body: new ReadableStream({
          start(controller) {
            controller.enqueue(body);
            controller.close();
          },
        }),
        duplex: "half",
      } as RequestInit);
      expect(response.status, `${route.method} ${route.path}`).toBe(413);
      expect(await response.json()).toMatchObject({ error: { code: "TOO_LARGE" } });
    }
  });

  it("answers another method with 405 and what is possible", async () => {
    for (const { path } of routes) {
      const answer = await stage.send("PUT", path.replace("{key}", "x").replace("{id}", "m1"), { token: "all" });
      expectError(answer, [405], path);
      expect(answer.headers.allow, path).toMatch(/GET|POST/);
    }
  });
});

describe("what is outside of the document", () => {
  it("does not tell what there is under /api without a token", async () => {
    for (const path of ["/api", "/api/", "/api/nothing", "/api/sessions/x/nothing", "/api//status", "/API/status"]) {
      const answer = await stage.send("GET", path);
      expectError(answer, path.startsWith("/api") ? [401] : [404], path);
    }
    expectError(await stage.send("GET", "/api/nothing", { token: "all" }), [404], "unknown route");
  });

  it("checks names and origins on /health, / and /auth too", async () => {
    for (const path of ["/health", "/", "/auth?code=x"]) {
      expectError(await stage.send("GET", path, { headers: { host: "rebound.example" } }), [403], path);
      expectError(await stage.send("GET", path, { headers: { origin: "https://evil.example" } }), [403], path);
    }
  });

  it("logs neither tokens nor queries nor bodies", () => {
    const text = JSON.stringify(stage.log);
    expect(stage.log.length).toBeGreaterThan(100);
    for (const secret of [stranger, secretText, "code=", "?"]) expect(text).not.toContain(secret);
  });
});

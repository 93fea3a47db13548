/** Malformed, slow, half-open and oversized HTTP over bare sockets: the gateway answers or closes, and stays alive. */
import { connect, type Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Stage, setStage, sha256 } from "../e2e/gateway-stage.ts";
import { isLongRun } from "../support/long-run.ts";
import { rngOf, seedOfRun } from "../support/rng.ts";
import { mutateBytes } from "./hostile-values.ts";

const seed = seedOfRun();
const tokens = [{ name: "all", token: sha256("all"), rights: ["read" as const, "write" as const, "admin" as const] }];
let stage: Stage;

beforeAll(async () => {
  stage = await setStage({ requestsPerMinute: 10_000_000, bodyLimitBytes: 64 * 1024, tokens });
});
afterAll(() => stage.end());

interface Exchange {
  /** Pieces, in order. */
  pieces: (string | Buffer)[];
  /** What the client does after the last piece: it ends its side, resets the connection, or keeps it open. */
  next: "end" | "reset" | "wait";
}

/** Everything the gateway said until the connection was closed. */
function exchange({ pieces, next }: Exchange, port = stage.gateway.port): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const socket: Socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
    socket.on("data", (chunk: Buffer) => chunks.push(chunk));
    socket.on("end", () => socket.end());
    socket.on("close", () => resolve(Buffer.concat(chunks).toString("latin1")));
    socket.on("error", (error: NodeJS.ErrnoException) => {
      // The gateway may close before it has read everything.
      if (!["ECONNRESET", "EPIPE", "ECONNABORTED"].includes(error.code ?? "")) reject(error);
    });
    socket.on("connect", () => {
      for (const piece of pieces) socket.write(piece);
      if (next === "end") socket.end();
      if (next === "reset") socket.resetAndDestroy();
    });
  });
}

const host = "Host: localhost";
const authorization = "Authorization: Bearer all";
const json = "Content-Type: application/json";
const request = (first: string, headers: string[], body = ""): string =>
  `${first}\r\n${headers.join("\r\n")}\r\n\r\n${body}`;

const lastOne = "Connection: close";
const get = (own: () => string) => () => request("GET /api/status HTTP/1.1", [own(), authorization, lastOne]);
const ownHost = () => `Host: 127.0.0.1:${stage.gateway.port}`;
const post = (headers: string[], body: string) => () =>
  request("POST /api/search HTTP/1.1", [ownHost(), authorization, json, lastOne, ...headers], body);

const malformed: [name: string, text: () => string | Buffer, answer: RegExp][] = [
  ["nothing", () => "\r\n\r\n\r\n", /^$|^HTTP\/1\.1 400/],
  ["no HTTP at all", () => "hello\r\n\r\n", /^HTTP\/1\.1 400/],
  ["a TLS greeting", () => Buffer.from("16030100a5010000a10303", "hex"), /^HTTP\/1\.1 400/],
  ["HTTP/2", () => "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", /^HTTP\/1\.1 [45]0\d/],
  ["an unknown version", () => request("GET / HTTP/9.9", [ownHost()]), /^HTTP\/1\.1 400/],
  ["a method that nobody knows", () => request("GRAB / HTTP/1.1", [ownHost()]), /^HTTP\/1\.1 40\d/],
  ["a CONNECT", () => request("CONNECT example.com:443 HTTP/1.1", [ownHost(), lastOne]), /^$|^HTTP\/1\.1 4\d\d/],
  [
    "an upgrade",
    () => request("GET / HTTP/1.1", [ownHost(), "Connection: Upgrade", "Upgrade: websocket"]),
    /^HTTP\/1\.1 [2-4]\d\d|^$/,
  ],
  [
    "an absolute address",
    () => request("GET http://evil.example/api/status HTTP/1.1", [ownHost(), authorization, lastOne]),
    /^HTTP\/1\.1 [24]\d\d/,
  ],
  ["a star as path", () => request("OPTIONS * HTTP/1.1", [ownHost(), lastOne]), /^HTTP\/1\.1 [24]\d\d/],
  ["no Host", () => request("GET /api/status HTTP/1.1", [authorization, lastOne]), /^HTTP\/1\.1 40\d/],
  [
    "two Hosts",
    () => request("GET /api/status HTTP/1.1", [ownHost(), "Host: evil.example", authorization, lastOne]),
    /^HTTP\/1\.1 [24]\d\d/,
  ],
  ["a Host of another", get(() => "Host: evil.example"), /^HTTP\/1\.1 403/],
  ["a path with a NUL", () => request("GET /api/\0 HTTP/1.1", [ownHost()]), /^HTTP\/1\.1 400/],
  [
    "a path of 60 kB",
    () => request(`GET /api/${"x".repeat(60_000)} HTTP/1.1`, [ownHost()]),
    /^HTTP\/1\.1 4(?:31|14|00)/,
  ],
  [
    "a flood of headers",
    () =>
      request(
        "GET / HTTP/1.1",
        Array.from({ length: 5_000 }, (_, at) => `x-${at}: y`),
      ),
    /^HTTP\/1\.1 431/,
  ],
  ["one huge header", () => request("GET / HTTP/1.1", [host, `x: ${"y".repeat(100_000)}`]), /^HTTP\/1\.1 431/],
  ["a header without a colon", () => request("GET / HTTP/1.1", [ownHost(), "nonsense"]), /^HTTP\/1\.1 400/],
  ["a header with a NUL", () => request("GET / HTTP/1.1", [ownHost(), "x: a\0b"]), /^HTTP\/1\.1 400/],
  ["a folded header", () => request("GET / HTTP/1.1", [ownHost(), "x: a", " b", lastOne]), /^HTTP\/1\.1 [24]\d\d/],
  ["two lengths", post(["Content-Length: 2", "Content-Length: 20"], "{}"), /^HTTP\/1\.1 400/],
  ["a length and chunks", post(["Content-Length: 2", "Transfer-Encoding: chunked"], "0\r\n\r\n"), /^HTTP\/1\.1 400/],
  ["a negative length", post(["Content-Length: -1"], "{}"), /^HTTP\/1\.1 400/],
  ["a length that is no number", post(["Content-Length: 0x10"], "{}"), /^HTTP\/1\.1 400/],
  ["a length beyond all limits", post(["Content-Length: 99999999999999999999"], "{}"), /^HTTP\/1\.1 4\d\d/],
  ["a length above the limit", post(["Content-Length: 9000000"], "{}"), /^HTTP\/1\.1 413/],
  ["a body shorter than its length", post(["Content-Length: 20"], "{}"), /^$|^HTTP\/1\.1 400/],
  [
    "a chunk whose size is no number",
    post(["Transfer-Encoding: chunked"], "zz\r\n{}\r\n0\r\n\r\n"),
    /^$|^HTTP\/1\.1 400/,
  ],
  ["a chunk longer than its size", post(["Transfer-Encoding: chunked"], "1\r\n{}\r\n0\r\n\r\n"), /^$|^HTTP\/1\.1 400/],
  [
    "a chunk shorter than its size",
    post(["Transfer-Encoding: chunked"], "ff\r\n{}\r\n0\r\n\r\n"),
    /^$|^HTTP\/1\.1 400/,
  ],
  [
    "a chunk size beyond all limits",
    post(["Transfer-Encoding: chunked"], "ffffffffffffffff1\r\n{}"),
    /^$|^HTTP\/1\.1 400/,
  ],
  [
    "a chunk extension of 100 kB",
    post(["Transfer-Encoding: chunked"], `2;${"x".repeat(100_000)}\r\n{}\r\n`),
    /^$|^HTTP\/1\.1 4\d\d/,
  ],
  ["chunks without an end", post(["Transfer-Encoding: chunked"], "2\r\n{}\r\n"), /^$|^HTTP\/1\.1 400/],
  ["an encoding that nobody knows", post(["Transfer-Encoding: gzip"], "{}"), /^$|^HTTP\/1\.1 [45]\d\d/],
  [
    "a small secret in a smuggled request",
    post(["Content-Length: 2", "Transfer-Encoding : chunked"], "{}GET /api/status HTTP/1.1"),
    /^HTTP\/1\.1 400/,
  ],
];

async function expectAlive(what: string): Promise<void> {
  const { status, text } = await stage.send("GET", "/api/sessions?limit=1", { token: "all" });
  expect(status, `after ${what}: ${text}`).toBe(200);
}

describe(`hostile HTTP (VARVE_TEST_SEED=${seed})`, () => {
  test.each(malformed)("%s: an answer or a closed connection", async (name, text, answer) => {
    // Where the gateway waits for more, the client ends its side.
    const next = answer.test("") ? "end" : "wait";
    expect(await exchange({ pieces: [text()], next }), name).toMatch(answer);
    await exchange({ pieces: [text()], next: "reset" });
    await expectAlive(name);
  });

  test("pipelined requests are all answered, and a broken one ends the connection", async () => {
    const one = request("GET /api/status HTTP/1.1", [ownHost(), authorization]);
    const last = request("GET /api/status HTTP/1.1", [ownHost(), authorization, lastOne]);
    const readStatuses = (said: string) => [...said.matchAll(/HTTP\/1\.1 (\d\d\d)/g)].map(([, status]) => status);
    const good = await exchange({ pieces: [one.repeat(49), last], next: "wait" });
    expect(readStatuses(good)).toEqual(Array.from({ length: 50 }, () => "200"));
    const bad = await exchange({ pieces: [one.repeat(50), "broken\r\n\r\n", one.repeat(50)], next: "wait" });
    expect(readStatuses(bad).filter((status) => status === "200").length).toBeLessThanOrEqual(50);
    expect(readStatuses(bad).filter((status) => status !== "200")).toEqual(["400"]);
    await expectAlive("pipelined requests");
  });

  test("a request cut anywhere is answered or closed", async () => {
    const body = JSON.stringify({ query: "valve", limit: 3 });
    const whole = Buffer.from(post([`Content-Length: ${body.length}`], body)());
    const step = isLongRun ? 1 : 7;
    for (let at = 0; at < whole.length; at += step) {
      const said = await exchange({ pieces: [whole.subarray(0, at)], next: "end" });
      expect(said, `cut at ${at}`).toMatch(/^$|^HTTP\/1\.1 4\d\d/);
      if (at % 5 === 0) await exchange({ pieces: [whole.subarray(0, at)], next: "reset" });
    }
    await expectAlive("cut requests");
  });

  test("bytes changed anywhere are answered or closed", async () => {
    const rng = rngOf(seed, "raw");
    const body = JSON.stringify({ query: "valve", limit: 3 });
    const whole = Buffer.from(post([`Content-Length: ${body.length}`], body)());
    for (let count = 0; count < (isLongRun ? 5_000 : 200); count += 1) {
      const changed = mutateBytes(rng, whole);
      const said = await exchange({ pieces: [changed], next: "end" });
      const what = `seed ${seed}, request ${count}: ${JSON.stringify(changed.toString("latin1"))}`;
      expect(said, what).toMatch(/^$|^HTTP\/1\.[01] [234]\d\d/);
    }
    await expectAlive("changed bytes");
  });

  test("clients that never finish are cut off, and others are served meanwhile", async () => {
    const slow = await setStage({ requestTimeoutMs: 1_000, bodyLimitBytes: 64 * 1024, tokens });
    try {
      const head = request("POST /api/search HTTP/1.1", [
        `Host: 127.0.0.1:${slow.gateway.port}`,
        authorization,
        json,
        "Content-Length: 5000",
      ]);
      const starts = ["", "GET /api/st", head.slice(0, 40), head, `${head}{"query":`];
      const waiting = starts.flatMap((start) =>
        Array.from({ length: isLongRun ? 100 : 10 }, () =>
          exchange({ pieces: [start], next: "wait" }, slow.gateway.port),
        ),
      );
      // A request without a token is answered whatever else is open.
      expect((await slow.send("GET", "/api/nothing")).status).toBe(401);
      // The gateway ends every one of them: the test's own time limit ends it otherwise.
      for (const said of await Promise.all(waiting)) expect(said).toMatch(/^$|^HTTP\/1\.1 (?:408|400|504|413)/);
    } finally {
      await slow.end();
    }
  });
});

/** The gateway on a Unix socket and over TLS. */
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { request } from "node:http";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "node:tls";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { startGateway } from "../../src/http/index.ts";
import { openVarve } from "../../src/index.ts";
import { type Stage, scratchHome, setStage } from "./gateway-stage.ts";

/** Only a broken test waits this long. */
const patiently = { timeout: 600_000 };

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

async function staged(...given: Parameters<typeof setStage>): Promise<Stage> {
  const stage = await setStage(...given);
  ends.push(stage.end);
  return stage;
}

const tokenOf = ({ home }: { home: string }): string => readFileSync(join(home, "gateway-token"), "utf8").trim();

/** The status that a path of a socket answers with. */
function askSocket(path: string, target: string, headers: Record<string, string>): Promise<number | undefined> {
  return new Promise((done, reject) => {
    const outgoing = request({ socketPath: path, path: target, headers, agent: false });
    outgoing.on("error", reject);
    outgoing.on("response", (response) => {
      response.resume();
      response.on("end", () => done(response.statusCode));
    });
    outgoing.end();
  });
}

describe("a Unix socket", () => {
  it("is in the home, for its owner only, and is removed with the gateway", async () => {
    const stage = await staged();
    const path = join(stage.home, "gateway.sock");
    expect(stage.gateway.socket).toBe(path);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(JSON.parse(readFileSync(join(stage.home, "gateway.json"), "utf8"))).toMatchObject({ socket: path });
    const authorization = `Bearer ${tokenOf(stage)}`;
    expect(await askSocket(path, "/api/status", { host: "localhost", authorization })).toBe(200);
    expect(await askSocket(path, "/api/status", { host: "localhost" })).toBe(401);
    expect(await askSocket(path, "/api/status", { host: "evil.example", authorization })).toBe(403);
    expect((await stage.send("GET", "/api/status", { headers: { host: "localhost", authorization } })).status).toBe(
      403,
    );
    await stage.gateway.close();
    expect(existsSync(path)).toBe(false);
  });

  it("that nobody listens on is replaced, and a living one is not", async () => {
    const home = scratchHome();
    const path = join(home, "gateway.sock");
    const dead = createServer().listen(`${path}.dead`);
    await new Promise((done) => dead.once("listening", done));
    execFileSync("ln", [`${path}.dead`, path]);
    await new Promise((done) => dead.close(done));
    expect(existsSync(path)).toBe(true);
    const varve = await openVarve({ home, background: false });
    ends.push(() => rmSync(home, { recursive: true, force: true }), varve.close);
    const first = await startGateway(varve, { port: 0 });
    ends.push(first.close);
    expect(first.socket).toBe(path);
    const log: unknown[] = [];
    const second = await startGateway(varve, { port: 0, log: (record) => log.push(record) });
    expect(second.socket).toBeUndefined();
    expect(log).toMatchObject([{ event: "error", error: { code: "PORT_IN_USE" } }]);
    await second.close();
    const authorization = `Bearer ${tokenOf({ home })}`;
    expect(await askSocket(path, "/api/status", { host: "localhost", authorization })).toBe(200);
  });

  it("with a path of its own must be possible there", async () => {
    const folder = mkdtempSync(join(tmpdir(), "varve-socket-"));
    ends.push(() => rmSync(folder, { recursive: true, force: true }));
    writeFileSync(join(folder, "file"), "");
    for (const socket of [join(folder, "x".repeat(120)), join(folder, "file"), join(folder, "file", "below")]) {
      await expect(setStage({ socket }), socket).rejects.toThrow();
    }
    expect(readFileSync(join(folder, "file"), "utf8")).toBe("");
    const stage = await staged({ socket: join(folder, "own.sock") });
    expect(stage.gateway.socket).toBe(join(folder, "own.sock"));
    expect((await staged({ socket: false })).gateway.socket).toBeUndefined();
  });
});

describe("TLS", () => {
  let folder: string;
  const pem = (name: string) => join(folder, name);

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "varve-tls-"));
    for (const name of ["one", "two"]) {
      const subject = ["-subj", `/CN=${name}`, "-addext", "subjectAltName=IP:127.0.0.1"];
      const files = ["-keyout", pem(`${name}.key`), "-out", pem(`${name}.crt`)];
      const kind = ["-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"];
      execFileSync("openssl", ["req", ...kind, ...subject, ...files], { stdio: "ignore" });
      chmodSync(pem(`${name}.key`), 0o600);
    }
    return () => rmSync(folder, { recursive: true, force: true });
  });

  /** The name of the certificate that a port shows, with what it answers to a request. */
  function askTls(port: number, token: string): Promise<{ name: string; answer: string }> {
    return new Promise((done, reject) => {
      const socket = connect({ port, host: "127.0.0.1", rejectUnauthorized: false });
      let answer = "";
      let name = "";
      socket.on("secureConnect", () => {
        name = String(socket.getPeerCertificate().subject.CN);
        const host = `Host: 127.0.0.1:${port}`;
        socket.write(`GET /api/status HTTP/1.0\r\n${host}\r\nAuthorization: Bearer ${token}\r\n\r\n`);
      });
      socket.on("data", (chunk) => {
        answer += chunk.toString();
      });
      socket.on("end", () => done({ name, answer }));
      socket.on("error", reject);
    });
  }

  it("serves the certificate of the settings, and a renewed one without a restart", async () => {
    for (const end of ["crt", "key"]) copyFileSync(pem(`one.${end}`), pem(`used.${end}`));
    const tls = { cert: pem("used.crt"), key: pem("used.key") };
    const stage = await staged({ tls }, { deadlines: { tlsCheckMs: 10 } });
    const { port, url } = stage.gateway;
    expect(url).toBe(`https://127.0.0.1:${port}`);
    const first = await askTls(port, tokenOf(stage));
    expect(first.name).toBe("one");
    expect(first.answer).toMatch(/^HTTP\/1\.1 200 /);
    writeFileSync(pem("used.crt"), "half a file");
    await expect.poll(() => stage.log, patiently).toContainEqual(expect.objectContaining({ path: "the TLS files" }));
    expect((await askTls(port, "wrong")).answer).toMatch(/^HTTP\/1\.1 401 /);
    for (const end of ["key", "crt"]) copyFileSync(pem(`two.${end}`), pem(`used.${end}`));
    await expect.poll(async () => (await askTls(port, tokenOf(stage))).name, patiently).toBe("two");
  });

  it("is refused when the files are missing, do not match, or others can read the key", async () => {
    const cases = [
      { tls: { cert: pem("one.crt") }, code: "BAD_CONFIG", words: /gateway\.tls\.key is not set/ },
      {
        tls: { cert: pem("none.crt"), key: pem("one.key") },
        code: "BAD_CONFIG",
        words: /gateway\.tls\.cert cannot be read/,
      },
      { tls: { cert: pem("one.crt"), key: pem("two.key") }, code: "BAD_CONFIG", words: /cannot be used/ },
    ];
    for (const { tls, code, words } of cases) {
      const start = setStage({ tls });
      await expect(start).rejects.toMatchObject({ code, message: expect.stringMatching(words) });
    }
    copyFileSync(pem("one.key"), pem("open.key"));
    chmodSync(pem("open.key"), 0o644);
    await expect(setStage({ tls: { cert: pem("one.crt"), key: pem("open.key") } })).rejects.toMatchObject({
      code: "REFUSED",
      remedy: expect.stringContaining("chmod 600"),
    });
  });
});

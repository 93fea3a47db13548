/** `varve search`: the running gateway answers it, and without one the command does, without a model. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { startGateway } from "../../src/http/index.ts";
import { openVarve, type SearchAnswer, type Varve } from "../../src/index.ts";

const program = fileURLToPath(new URL("../../bin/varve.js", import.meta.url));
let folder: string;
let home: string;
let varve: Varve;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "varve-search-"));
  home = join(folder, "home");
  mkdirSync(home);
  varve = await openVarve({ home, background: false });
  const session = await varve.sessions.resolve({ key: "agent:main:harbour" });
  await varve.context.ingest(session, [
    { role: "user", content: "The vault of the harbour team is called Heron and its owner is Mirela." },
    { role: "assistant", content: "Noted: Mirela owns the Heron vault." },
  ]);
  const other = await varve.sessions.resolve({ key: "agent:main:kitchen" });
  await varve.context.ingest(other, [{ role: "user", content: "The kitchen has a vault of spices named Heron too." }]);
});
afterEach(async () => {
  await varve.close();
  rmSync(folder, { recursive: true, force: true });
});

async function search(flags: string[], env: object = {}) {
  const words = [program, "search", "Heron vault", "--json", "--home", home, ...flags];
  const child = spawn(process.execPath, words, { env: { PATH: process.env.PATH, HOME: folder, ...env }, cwd: folder });
  const [out, err]: [Buffer[], Buffer[]] = [[], []];
  child.stdout.on("data", (chunk: Buffer) => out.push(chunk));
  child.stderr.on("data", (chunk: Buffer) => err.push(chunk));
  const [code] = (await once(child, "close")) as [number | null];
  const text = Buffer.concat(out).toString();
  return { code, answer: (text === "" ? {} : JSON.parse(text)) as SearchAnswer, said: Buffer.concat(err).toString() };
}

const shape = (answer: SearchAnswer) => ({
  fields: Object.keys(answer).sort(),
  ofResults: [...new Set(answer.results.flatMap((result) => Object.keys(result)))].sort(),
  found: answer.results.map(({ citation, text, sessionKey }) => ({ citation, text, sessionKey })),
});

describe("varve search", () => {
  test("is answered by the running gateway as by the command itself", async () => {
    const alone = await search(["--mode", "text", "--session", "agent:main:harbour", "--explain"]);
    const paths: string[] = [];
    const log = (record: { event: string; path?: unknown }) => paths.push(`${record.event} ${record.path}`);
    const gateway = await startGateway(varve, { port: 0, log });
    try {
      const asked = await search(["--mode", "text", "--session", "agent:main:harbour", "--explain"]);
      expect(paths).toContain("request /api/search/answer");
      expect(shape(asked.answer)).toEqual(shape(alone.answer));
      expect(asked.answer.results[0]?.text).toContain("Mirela");
      expect(asked.answer.results.every(({ sessionKey }) => sessionKey === "agent:main:harbour")).toBe(true);
      expect(asked.code).toBe(0);
    } finally {
      await gateway.close();
    }
  });

  test("opens the database itself where the gateway would have other settings, and for errors", async () => {
    const paths: string[] = [];
    const log = (record: { event: string; path?: unknown }) => paths.push(String(record.path));
    const gateway = await startGateway(varve, { port: 0, log });
    try {
      const flags = ["--mode", "text"];
      expect((await search(flags, { VARVE_SEARCH_LIMIT: "1" })).answer.results).toHaveLength(1);
      expect((await search([...flags, "--database", join(home, "varve.db")])).code).toBe(0);
      expect(paths).not.toContain("/api/search/answer");
      const missing = await search([...flags, "--session", "agent:main:nowhere"]);
      expect(missing.code).not.toBe(0);
      expect(missing.said).toContain("agent:main:nowhere");
    } finally {
      await gateway.close();
    }
  });

  test("sends nothing to another program on the port of the gateway, and says so", async () => {
    const heard: string[] = [];
    const stranger = createServer((request, response) => {
      heard.push(`${request.method} ${request.url?.split("?")[0]} ${request.headers.authorization ?? ""}`.trim());
      response.end('{"proof":"none"}');
    }).listen(0, "127.0.0.1");
    await once(stranger, "listening");
    const gateway = await startGateway(varve, { port: 0 });
    const written = JSON.parse(readFileSync(join(home, "gateway.json"), "utf8")) as { pid: number };
    const url = `http://127.0.0.1:${(stranger.address() as AddressInfo).port}`;
    writeFileSync(join(home, "gateway.json"), JSON.stringify({ ...written, url }));
    try {
      const { answer, said } = await search(["--mode", "text"]);
      expect(heard).toEqual(["GET /gateway/proof"]);
      expect(answer.results[0]?.text).toContain("Heron");
      expect(said).toContain("searched directly");
    } finally {
      await gateway.close();
      stranger.closeAllConnections();
      stranger.close();
    }
  });

  test("uses instant vectors and no model without a gateway", async () => {
    await varve.search.index({ tier: "instant" });
    const { answer } = await search([]);
    expect(answer.mode).toBe("hybrid");
    expect(answer.tiers).toEqual(["instant"]);
    expect(answer.results[0]?.text).toContain("Heron");
  });
});

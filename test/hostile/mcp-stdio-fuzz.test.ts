/** The MCP server on standard input and output with hostile lines: it answers what can be answered, and goes on. */
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { isLongRun } from "../support/long-run.ts";
import { rngOf, seedOfRun } from "../support/rng.ts";
import { hostileText, hostileValue, mutateBytes, mutateJson } from "./hostile-values.ts";

const program = fileURLToPath(new URL("../../src/cli/main.ts", import.meta.url));
const seed = seedOfRun();
const lines = isLongRun ? 5_000 : 200;
const home = mkdtempSync(join(tmpdir(), "varve-mcp-fuzz-"));
let child: ChildProcessWithoutNullStreams;
let output = "";

const call = (id: unknown, method: string, params?: unknown) => ({ jsonrpc: "2.0", id, method, params });
const hello = {
  protocolVersion: "2025-06-18",
  capabilities: {},
  clientInfo: { name: "fuzz", version: "1" },
};

beforeAll(() => {
  child = spawn(process.execPath, [program, "mcp"], {
    env: { ...process.env, VARVE_HOME: home, VARVE_SEARCH_EMBEDDER: "none" },
  });
  child.stdout.setEncoding("utf8");
  child.stdout.on("data", (piece: string) => {
    output += piece;
  });
  child.stderr.resume();
});
afterAll(async () => {
  const ended = once(child, "exit");
  child.stdin.end();
  await ended;
  rmSync(home, { recursive: true, force: true });
});

const send = (value: unknown): void => void child.stdin.write(`${JSON.stringify(value)}\n`);
const answerTo = (id: string) =>
  output
    .split("\n")
    .filter((line) => line.includes(JSON.stringify(id)))
    .map((line) => JSON.parse(line) as { result?: unknown; error?: unknown })[0];

test(`hostile lines (VARVE_TEST_SEED=${seed})`, async () => {
  send(call("hello", "initialize", hello));
  await expect.poll(() => answerTo("hello"), { timeout: 60_000 }).toMatchObject({ result: expect.anything() });
  send({ jsonrpc: "2.0", method: "notifications/initialized" });
  const rng = rngOf(seed, "mcp stdio");
  const names = ["lcm_grep", "memory_store", "memory_search", "lcm_describe", "session_list", hostileText(rng)];
  for (let count = 0; count < lines; count += 1) {
    const params = { name: rng.pick(names), arguments: hostileValue(rng) };
    const request = call(`f${count}`, rng.pick(["tools/call", "tools/list", "ping", hostileText(rng)]), params);
    const fate = rng.int(0, 3);
    if (fate === 0) send(request);
    else if (fate === 1) send(mutateJson(rng, request));
    else if (fate === 2) child.stdin.write(mutateBytes(rng, Buffer.from(`${JSON.stringify(request)}\n`)));
    else child.stdin.write(`${hostileText(rng).toWellFormed().replaceAll("\n", " ")}\n`);
  }
  // Ends a line that is still open, and asks something sensible.
  child.stdin.write("\n");
  send(call("sane", "tools/call", { name: "memory_store", arguments: { text: "The valve is blue.", force: true } }));
  await expect.poll(() => answerTo("sane"), { timeout: 100_000 }).toMatchObject({ result: expect.anything() });
  expect(child.exitCode).toBeNull();
  // Everything that it wrote is a line of JSON.
  for (const line of output.split("\n").slice(0, -1)) expect(() => JSON.parse(line) as unknown).not.toThrow();
});

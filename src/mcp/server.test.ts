import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { InMemoryTransport } from "@modelcontextprotocol/server";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openVarve, type Varve } from "../index.ts";
import { createServer, type McpOptions } from "./server.ts";

const home = mkdtempSync(join(tmpdir(), "varve-mcp-server-"));
let varve: Varve;
beforeAll(async () => {
  varve = await openVarve({ home, background: false });
});
afterAll(async () => {
  await varve.close();
  rmSync(home, { recursive: true, force: true });
});

/** A client of a server whose search does what the test says. */
async function clientOf(grep: Varve["context"]["grep"], options: McpOptions = {}): Promise<Client> {
  const server = createServer({ ...varve, context: { ...varve.context, grep } }, options);
  const [here, there] = InMemoryTransport.createLinkedPair();
  await server.connect(there);
  const client = new Client({ name: "test", version: "1" });
  await client.connect(here as unknown as Parameters<Client["connect"]>[0]);
  return client;
}

const search = { name: "lcm_grep", arguments: { pattern: "x" } };

describe("the MCP server", () => {
  it("passes a cancellation on to the engine", async () => {
    const started = Promise.withResolvers<void>();
    const aborted = Promise.withResolvers<void>();
    const client = await clientOf(async ({ signal }) => {
      signal?.addEventListener("abort", () => aborted.resolve());
      started.resolve();
      await aborted.promise;
      throw signal?.reason;
    });
    const controller = new AbortController();
    const call = client.callTool(search, { signal: controller.signal });
    await started.promise;
    controller.abort("enough");
    await expect(call).rejects.toThrow();
    await aborted.promise;
  });

  it("tells an accident to the log and not to the client", async () => {
    const failures: unknown[] = [];
    const accident = new Error("password=hunter2 in a stack somewhere");
    const client = await clientOf(() => Promise.reject(accident), { onFailure: (error) => failures.push(error) });
    const answer = await client.callTool(search);
    expect(answer).toMatchObject({ isError: true, content: [{ text: expect.stringContaining("INTERNAL") }] });
    expect(JSON.stringify(answer)).not.toContain("hunter2");
    expect(failures).toMatchObject([{ cause: accident }]);
  });

  it("names only tools that are offered in its instructions", async () => {
    const client = await clientOf(varve.context.grep, { session: "agent:main:main" });
    expect(client.getInstructions()).toContain("lcm_expand_query");
    expect(client.getInstructions()).not.toMatch(/lcm_expand\b(?!_query)/);
  });
});

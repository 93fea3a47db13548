/** Tokens, audit and erasure with a role of PostgreSQL that row-level security binds. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runWithAccess } from "../../src/authorization/index.ts";
import { startGateway } from "../../src/http/index.ts";
import { openVarve, type Varve } from "../../src/index.ts";
import { bindToPolicies, protectedKinds, type ScratchDatabase, scratchDatabase } from "../support/databases.ts";

/** Only a broken test waits this long. */
const patiently = { timeout: 600_000 };

describe.runIf(protectedKinds.length > 0)("a role that is bound by policies on postgres", () => {
  let scratch: ScratchDatabase;
  let home: string;
  let varve: Varve;
  beforeAll(async () => {
    scratch = await scratchDatabase("postgres");
    home = mkdtempSync(join(tmpdir(), "varve-home-"));
    const url = new URL(scratch.database);
    if (url.username === "postgres") await bindToPolicies(url);
    const config = { search: { embedder: "none" as const }, gateway: { audit: true } };
    varve = await openVarve({ home, database: url.href, config, background: false });
  });
  afterAll(async () => {
    await varve?.close();
    await scratch?.drop();
    rmSync(home, { recursive: true, force: true });
  });

  it("accepts tokens and records what limited ones do", async () => {
    const gateway = await startGateway(varve, { port: 0 });
    try {
      const bound = { name: "bound", rights: ["read" as const], agent: "ann", scopes: ["agent:ann"] };
      const { secret } = await varve.accessTokens.create(bound);
      const headers = {
        authorization: `Bearer ${secret}`,
        accept: "application/json, text/event-stream",
        "content-type": "application/json",
      };
      const params = { name: "memory_stats", arguments: {} };
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params });
      expect((await fetch(`${gateway.url}/api/sessions`, { headers })).status).toBe(200);
      await (await fetch(`${gateway.url}/mcp`, { method: "POST", headers, body })).text();
      await expect
        .poll(() => varve.audit.list({ principal: "bound" }), patiently)
        .toMatchObject([{ action: "tool memory_stats", status: "ok" }, { action: "GET /api/sessions" }]);
      const stream = await fetch(`${gateway.url}/api/events`, { headers });
      const reader = stream.body?.getReader();
      expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toContain("ready");
      await varve.accessTokens.revoke("bound");
      let chunk = await reader?.read();
      while (chunk && !chunk.done) chunk = await reader?.read();
      expect((await varve.audit.verify()).intact).toBe(true);
    } finally {
      await gateway.close();
    }
  });

  it("hides tokens and the audit log from limited work", async () => {
    const limited = { agents: ["ann"], scopes: ["agent:ann"] };
    expect(await runWithAccess(limited, () => varve.accessTokens.list())).toEqual([]);
    expect(await runWithAccess(limited, () => varve.audit.list())).toEqual([]);
  });

  it("erases a person, and says that the owner of the tables must rewrite them", async () => {
    const session = await varve.sessions.resolve({ key: "agent:ann:telegram:direct:5" });
    await varve.context.ingest(session, [{ role: "user", content: "My secret is a walrus." }]);
    const limited = { agents: ["bob"], scopes: [] };
    const report = await runWithAccess(limited, () => varve.forgetPerson("telegram:5"));
    expect(report.erased).toMatchObject({ sessions: 1, conversations: 1 });
    expect(report.notes.join(" ")).toMatch(/VACUUM FULL/);
  });
});

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import { afterEach, describe, expect, it } from "vitest";
import { systemClock, systemRandom } from "../../src/domain/index.ts";
import { startGateway } from "../../src/http/index.ts";
import type { OpenOptions } from "../../src/index.ts";
import { openStore, type StoreTap } from "../../src/store/index.ts";
import { type EngineUnderTest, onEveryEngine } from "../support/engines.ts";

/** Only a broken test waits this long. */
const patiently = { timeout: 600_000 };

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

const config: OpenOptions["config"] = { gateway: { audit: true } };
const event = (status: string) => ({ principal: "test", action: "GET /x", targets: { id: status }, status });

/** A statement of somebody with access to the database. */
async function tamper(database: string, ...statements: string[]): Promise<void> {
  const store = await openStore({ database, clock: systemClock, random: systemRandom });
  await store.transaction(async ({ db }) => {
    for (const statement of statements) await sql.raw(statement).execute(db);
  });
  await store.close();
}

async function openGateway({ another, clock }: EngineUnderTest, more: OpenOptions = {}) {
  const home = mkdtempSync(join(tmpdir(), "varve-audit-"));
  const varve = await another({ home, ...more });
  const gateway = await startGateway(varve, { port: 0, clock });
  ends.push(() => rmSync(home, { recursive: true, force: true }), gateway.close);
  const { secret } = await varve.accessTokens.create({ name: `admin ${home}`, rights: ["admin"] });
  const send = async (method: string, path: string, body?: object) =>
    fetch(`${gateway.url}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${secret}`,
        accept: "application/json, text/event-stream",
        ...(body ? { "content-type": "application/json" } : {}),
      },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
  return { varve, gateway, send, name: `admin ${home}` };
}

onEveryEngine(
  "the audit log",
  (get) => {
    it("is one unbroken chain of everything that several processes record at once", async () => {
      const { varve, another } = get();
      const others = await Promise.all([another({ config }), another({ config })]);
      const logs = [varve, ...others].map((one) => one.audit);
      const statuses = Array.from({ length: 300 }, (_, index) => String(index));
      await Promise.all(statuses.map((status, index) => logs[index % 3]?.record(event(status))));
      const report = await varve.audit.verify();
      expect(report).toMatchObject({ intact: true, rows: 300, head: { num: 300 }, fault: null });
      const listed = await varve.audit.list({ limit: 1000 });
      expect(listed.map((one) => one.status).sort()).toEqual(statuses.toSorted());
      expect(listed.map((one) => one.num)).toEqual(statuses.map((_, index) => 300 - index));
      expect(await varve.audit.verify({ num: 300, hash: report.head.hash })).toMatchObject({ intact: true });
      expect((await varve.audit.list({ limit: 2, beforeNum: 10 })).map((one) => one.num)).toEqual([9, 8]);
      expect(await varve.audit.list({ principal: "nobody" })).toEqual([]);
      expect(await varve.audit.list({ since: get().clock.now() + 1 })).toEqual([]);
    });

    it("is found broken when a record is changed, removed or added", async () => {
      const { varve, database } = get();
      const head = (await varve.audit.verify()).head;
      const cases = [
        {
          does: "update audit set principal = 'x' where num = 7",
          undo: "update audit set principal = 'test' where num = 7",
        },
        { does: "update audit set num = -7 where num = 7", undo: "update audit set num = 7 where num = -7" },
      ];
      for (const { does, undo } of cases) {
        await tamper(database, does);
        expect(await varve.audit.verify(), does).toMatchObject({ intact: false, fault: { num: 7 } });
        const { findings } = await varve.doctor();
        expect(findings.find(({ check }) => check.includes("audit log"))?.faults).toHaveLength(1);
        await tamper(database, undo);
        expect((await varve.audit.verify()).intact).toBe(true);
      }
      await tamper(
        database,
        "create table kept as select * from audit where num > 290",
        "delete from audit where num > 290",
      );
      expect(await varve.audit.verify()).toMatchObject({ intact: false, fault: { num: 291 } });
      // Somebody who also changes the noted head is found by a head that was noted elsewhere.
      const last = "(select hash from audit where num = 290)";
      await tamper(database, `update audit_links set num = 290, hash = ${last} where name = 'head'`);
      expect((await varve.audit.verify()).intact).toBe(true);
      expect(await varve.audit.verify(head)).toMatchObject({ intact: false, fault: { num: 291 } });
      await tamper(database, "insert into audit select * from kept", "drop table kept");
      await tamper(database, `update audit_links set num = 300, hash = '${head.hash}' where name = 'head'`);
      expect((await varve.audit.verify(head)).intact).toBe(true);
    });

    it("can be cut at a time and stays verifiable", async () => {
      const { varve, clock } = get();
      clock.advance(1000);
      const time = clock.now();
      await varve.audit.record(event("later"));
      expect(await varve.audit.removeBefore(time)).toBe(300);
      expect(await varve.audit.verify()).toMatchObject({ intact: true, rows: 1, head: { num: 301 } });
      expect(await varve.audit.removeBefore(time + 1)).toBe(1);
      expect(await varve.audit.removeBefore(time + 1)).toBe(0);
      await varve.audit.record(event("after everything was removed"));
      expect(await varve.audit.verify()).toMatchObject({ intact: true, rows: 1, head: { num: 302 } });
    });

    it("keeps what could not be written for the next attempt", async () => {
      const { another } = get();
      let broken = true;
      const tap: StoreTap = {
        before: (call) => {
          if (broken && call === "commit") throw new Error("the disk is gone");
        },
      };
      const varve = await another({ config, tap });
      await expect(varve.audit.record(event("delayed"))).rejects.toThrow("the disk is gone");
      broken = false;
      await varve.audit.record(event("in time"));
      expect((await varve.audit.list({ limit: 2 })).map((one) => one.status)).toEqual(["in time", "delayed"]);
      expect((await varve.audit.verify()).intact).toBe(true);
    });

    it("continues after the records that another process wrote in between", async () => {
      const { varve, another } = get();
      const other = await another({ config });
      const before = (await varve.audit.verify()).rows;
      for (let round = 0; round < 5; round += 1) {
        await varve.audit.record(event(`first ${round}`));
        await varve.audit.record(event(`second ${round}`));
        await Promise.all([other.audit.record(event(`third ${round}`)), varve.audit.record(event(`fourth ${round}`))]);
      }
      expect(await varve.audit.verify()).toMatchObject({ intact: true, rows: before + 20 });
    });

    describe("of a gateway", () => {
      it("has who called which route with which ids, and no content", async () => {
        const { send, varve, name } = await openGateway(get(), { config });
        const key = "agent:main:telegram:direct:5";
        await varve.sessions.resolve({ key });
        const message = { id: "m1", role: "user", content: "the secret word is plover" };
        await send("POST", `/api/sessions/${encodeURIComponent(key)}/messages`, { messages: [message] });
        await send("GET", "/api/search?q=plover&session=agent%3Amain%3Atelegram%3Adirect%3A5");
        await send("GET", "/api/sessions/unknown");
        const added = await send("POST", "/api/memories", { text: "The plover is a bird." });
        const memory = ((await added.json()) as { current: { id: string } }).current.id;
        await send("POST", "/api/tokens", { name: "made", rights: ["read"] });
        const made = (await varve.accessTokens.list()).find((one) => one.name === "made");
        await expect.poll(() => varve.audit.list({ principal: name }), patiently).toHaveLength(5);
        const records = (await varve.audit.list({ principal: name })).toReversed();
        expect(records).toMatchObject([
          { action: "POST /api/sessions/{key}/messages", targets: { key }, status: "200" },
          { action: "GET /api/search", targets: { session: key } },
          { action: "GET /api/sessions/{key}", targets: { key: "unknown" }, status: "404" },
          { action: "POST /api/memories", targets: { memory } },
          { action: "POST /api/tokens", targets: { token: made?.id }, status: "201" },
        ]);
        expect(JSON.stringify(records)).not.toContain("plover");
        expect(await (await send("GET", `/api/audit?principal=${encodeURIComponent(name)}`)).json()).toMatchObject({
          enabled: true,
          records: [{ action: "POST /api/tokens" }, {}, {}, {}, {}],
        });
        expect(await (await send("GET", "/api/audit/verification")).json()).toMatchObject({ intact: true });
      });

      it("has denied requests, and is for admins only", async () => {
        const { gateway, varve } = await openGateway(get(), { config });
        const reader = await varve.accessTokens.create({ name: "reader", rights: ["read"] });
        const headers = { authorization: `Bearer ${reader.secret}` };
        expect((await fetch(`${gateway.url}/api/audit`, { headers })).status).toBe(403);
        await expect
          .poll(() => varve.audit.list({ principal: "reader" }), patiently)
          .toMatchObject([{ action: "GET /api/audit", status: "403" }]);
      });

      it("has the tools of MCP by name", async () => {
        const { send, varve, name } = await openGateway(get(), { config });
        const params = { name: "memory_recall", arguments: { query: "the secret plover", scope: "global" } };
        await (await send("POST", "/mcp", { jsonrpc: "2.0", id: 1, method: "tools/call", params })).text();
        await expect
          .poll(() => varve.audit.list({ principal: name }), patiently)
          .toMatchObject([{ action: "tool memory_recall", targets: { scope: "global" }, status: "ok" }]);
      });

      it("has an opened event stream", async () => {
        const { gateway, varve } = await openGateway(get(), { config });
        const { secret } = await varve.accessTokens.create({ name: "listener", rights: ["read"] });
        const controller = new AbortController();
        const { signal } = controller;
        await fetch(`${gateway.url}/api/events`, { headers: { authorization: `Bearer ${secret}` }, signal });
        await expect
          .poll(() => varve.audit.list({ principal: "listener" }), patiently)
          .toMatchObject([{ action: "GET /api/events" }]);
        controller.abort();
      });

      it("answers a change only when its record is stored", async () => {
        let broken = false;
        const tap: StoreTap = {
          before: (call) => {
            if (broken && (call === "commit" || call === "write")) throw new Error("the disk is gone");
          },
        };
        const { send, varve, name } = await openGateway(get(), { config, tap });
        const sessionKey = "agent:main:telegram:direct:6";
        await varve.sessions.resolve({ key: sessionKey });
        const key = encodeURIComponent(sessionKey);
        const messages = [{ id: "m1", role: "user", content: "hello" }];
        await send("POST", `/api/sessions/${key}/messages`, { messages });
        broken = true;
        const answer = await send("POST", `/api/sessions/${key}/messages`, {
          messages: [{ ...messages[0], id: "m2" }],
        });
        expect(answer.status).toBe(500);
        broken = false;
        await send("GET", "/api/status");
        await expect.poll(() => varve.audit.list({ principal: name }), patiently).toHaveLength(3);
      });

      it("is empty when the setting is off", async () => {
        const { send, varve, name } = await openGateway(get(), { config: {} });
        await send("GET", "/api/status");
        expect(varve.audit.enabled).toBe(false);
        expect(await varve.audit.list({ principal: name })).toEqual([]);
      });
    });
  },
  { config },
);

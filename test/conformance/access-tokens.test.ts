import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { type Gateway, startGateway } from "../../src/http/index.ts";
import type { Varve } from "../../src/index.ts";
import { type EngineUnderTest, onEveryEngine } from "../support/engines.ts";

/** Only a broken test waits this long. */
const patiently = { timeout: 600_000 };

const day = 86_400_000;
const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

/** A gateway with an engine and a home of its own on the database under test, as on another machine. */
async function openGateway({ another, clock }: EngineUnderTest, host?: string): Promise<Gateway & { varve: Varve }> {
  const home = mkdtempSync(join(tmpdir(), "varve-tokens-"));
  const varve = await another({ home });
  const gateway = await startGateway(varve, { port: 0, clock, ...(host === undefined ? {} : { host }) });
  ends.push(async () => rmSync(home, { recursive: true, force: true }), gateway.close);
  return { ...gateway, varve };
}

async function ask(gateway: Gateway, token: string, path = "/api/status", init: RequestInit = {}) {
  const response = await fetch(`${gateway.url}${path}`, {
    ...init,
    headers: { authorization: `Bearer ${token}`, ...(init.body ? { "content-type": "application/json" } : {}) },
  });
  return { status: response.status, json: (await response.json()) as { error?: { message: string } } };
}

onEveryEngine("access tokens", (get) => {
  describe("in the database", () => {
    it("are kept as hashes and expire after 90 days unless told otherwise", async () => {
      const { varve, clock } = get();
      const { token, secret } = await varve.accessTokens.create({ name: "a", rights: ["read"] });
      expect(token).toMatchObject({ state: "active", agent: null, scopes: null, expiresAt: clock.now() + 90 * day });
      expect(JSON.stringify(await varve.accessTokens.list())).not.toContain(secret);
      expect((await varve.accessTokens.findBySecret(secret))?.id).toBe(token.id);
      const monthly = await varve.accessTokens.create({ name: "b", rights: ["read"], expires: "30d" });
      expect(monthly.token.expiresAt).toBe(clock.now() + 30 * day);
      const eternal = await varve.accessTokens.create({ name: "c", rights: ["read"], expires: "never" });
      expect(eternal.token.expiresAt).toBeNull();
      for (const expires of ["30", "0d", "soon", "2001-01-01", ""]) {
        const asked = varve.accessTokens.create({ name: "d", rights: ["read"], expires });
        await expect(asked, expires).rejects.toMatchObject({ code: "BAD_REQUEST" });
      }
    });

    it("have a name that no other active token has", async () => {
      const { varve } = get();
      const tokens = varve.accessTokens;
      await tokens.create({ name: "one of a kind", rights: ["read"] });
      const second = tokens.create({ name: "one of a kind", rights: ["read"] });
      await expect(second).rejects.toMatchObject({ code: "CONFLICT" });
      await tokens.revoke("one of a kind");
      expect((await tokens.create({ name: "one of a kind", rights: ["read"] })).token.state).toBe("active");
    });

    it("are rotated with a grace period or without", async () => {
      const { varve, clock } = get();
      const tokens = varve.accessTokens;
      const first = await tokens.create({ name: "r", rights: ["read", "write"], agent: "Work", expires: "10d" });
      const second = await tokens.rotate("r", { grace: "1h" });
      expect(second.token).toMatchObject({ name: "r", agent: "work", rotatedFrom: first.token.id });
      expect(second.token.expiresAt).toBe(clock.now() + 10 * day);
      await expect(tokens.rotate(first.token.id)).rejects.toMatchObject({ code: "CONFLICT" });
      clock.advance(3_599_999);
      expect((await tokens.findBySecret(first.secret))?.state).toBe("active");
      clock.advance(1);
      expect((await tokens.findBySecret(first.secret))?.state).toBe("revoked");
      const third = await tokens.rotate("r");
      expect((await tokens.findBySecret(second.secret))?.state).toBe("revoked");
      expect((await tokens.findBySecret(third.secret))?.state).toBe("active");
      await expect(tokens.rotate("nobody")).rejects.toMatchObject({ code: "NOT_FOUND" });
    });

    it("reach no more than the token that creates or rotates them", async () => {
      const { varve } = get();
      const tokens = varve.accessTokens;
      const principal = { name: "limited", rights: new Set(["admin" as const]), scopes: ["project:x"] };
      for (const scopes of [undefined, ["project:x", "global"]]) {
        const asked = tokens.create({ name: "wide", rights: ["read"], scopes }, { principal });
        await expect(asked).rejects.toMatchObject({ code: "FORBIDDEN" });
      }
      const narrow = await tokens.create({ name: "narrow", rights: ["read"], scopes: ["project:x"] }, { principal });
      expect(narrow.token.scopes).toEqual(["project:x"]);
      await tokens.create({ name: "free", rights: ["read"] });
      await expect(tokens.rotate("free", { principal })).rejects.toMatchObject({ code: "FORBIDDEN" });
    });
  });

  describe("of running gateways", () => {
    it("are accepted, rotated and refused by every gateway on the database", async () => {
      const { clock } = get();
      const [here, there] = [await openGateway(get()), await openGateway(get())];
      const tokens = here.varve.accessTokens;
      const { token, secret } = await tokens.create({ name: "shared", rights: ["read"] });
      for (const gateway of [here, there]) expect((await ask(gateway, secret)).status).toBe(200);
      await tokens.revoke(token.id);
      clock.advance(2_000);
      for (const gateway of [here, there]) {
        const refused = await ask(gateway, secret);
        expect(refused.status).toBe(401);
        expect(refused.json.error?.message).toBe("The access token was revoked.");
      }
      const short = await tokens.create({ name: "short", rights: ["read"], expires: "1m" });
      expect((await ask(there, short.secret)).status).toBe(200);
      clock.advance(60_000);
      expect((await ask(there, short.secret)).json.error?.message).toBe("The access token has expired.");
      expect((await ask(there, "varve_x")).json.error?.message).toBe("The access token is unknown.");
    });

    it("record their use at most once a minute", async () => {
      const { clock } = get();
      const gateway = await openGateway(get());
      const { token, secret } = await gateway.varve.accessTokens.create({ name: "used", rights: ["read"] });
      const lastUse = async () =>
        (await gateway.varve.accessTokens.list()).find(({ id }) => id === token.id)?.lastUsedAt ?? null;
      const first = clock.now();
      for (const waitMs of [0, 30_000, 29_999]) {
        clock.advance(waitMs);
        expect((await ask(gateway, secret)).status).toBe(200);
      }
      await expect.poll(lastUse, patiently).toBe(first);
      clock.advance(1);
      await ask(gateway, secret);
      await expect.poll(lastUse, patiently).toBe(first + 60_000);
    });

    it("end their event streams when they are revoked elsewhere", async () => {
      const { varve, clock } = get();
      const gateway = await openGateway(get());
      const { token, secret } = await varve.accessTokens.create({ name: "listener", rights: ["read"] });
      const response = await fetch(`${gateway.url}/api/events`, { headers: { authorization: `Bearer ${secret}` } });
      const reader = response.body?.getReader();
      expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toContain("ready");
      await varve.accessTokens.revoke(token.id);
      clock.advance(2_000);
      let chunk = await reader?.read();
      while (chunk && !chunk.done) chunk = await reader?.read();
      expect(chunk?.done).toBe(true);
    });

    it("are enough to listen where other machines can connect", async () => {
      const { varve, clock } = get();
      for (const { id } of await varve.accessTokens.list()) await varve.accessTokens.revoke(id);
      await expect(openGateway(get(), "0.0.0.0")).rejects.toMatchObject({ code: "REFUSED" });
      const { secret } = await varve.accessTokens.create({ name: "remote", rights: ["read"] });
      const gateway = await openGateway(get(), "0.0.0.0");
      expect(gateway.tokenFile).toBeUndefined();
      expect((await ask(gateway, secret)).status).toBe(200);
      clock.advance(91 * day);
      expect((await ask(gateway, secret)).status).toBe(401);
      await expect(openGateway(get(), "0.0.0.0")).rejects.toMatchObject({ code: "REFUSED" });
    });

    it("are managed over HTTP by admins only, at once", async () => {
      const { varve } = get();
      const gateway = await openGateway(get());
      const admin = await varve.accessTokens.create({ name: "admin", rights: ["admin"] });
      const reader = await varve.accessTokens.create({ name: "reader", rights: ["read", "write"] });
      const bound = await varve.accessTokens.create({ name: "bound", rights: ["admin"], agent: "main" });
      const body = JSON.stringify({ name: "made over HTTP", rights: ["read"], expires: "1d" });
      for (const { secret } of [reader, bound]) {
        expect((await ask(gateway, secret, "/api/tokens", { method: "POST", body })).status).toBe(403);
        expect((await ask(gateway, secret, "/api/tokens")).status).toBe(403);
      }
      const made = await ask(gateway, admin.secret, "/api/tokens", { method: "POST", body });
      expect(made.status).toBe(201);
      const issued = made.json as unknown as { token: { id: string }; secret: string };
      expect((await ask(gateway, issued.secret)).status).toBe(200);
      const rotated = await ask(gateway, admin.secret, `/api/tokens/${issued.token.id}/rotate`, { method: "POST" });
      const next = rotated.json as unknown as typeof issued;
      expect([(await ask(gateway, issued.secret)).status, (await ask(gateway, next.secret)).status]).toEqual([
        401, 200,
      ]);
      await ask(gateway, admin.secret, `/api/tokens/${next.token.id}/revoke`, { method: "POST" });
      expect((await ask(gateway, next.secret)).status).toBe(401);
      const listed = await ask(gateway, admin.secret, "/api/tokens");
      expect(JSON.stringify(listed.json)).toContain("made over HTTP");
      expect(JSON.stringify(listed.json)).not.toContain(next.secret);
    });
  });
});

/** The commands for tokens, the audit log and erasure, as a person runs them. */
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { AccessToken, AuditRecord, IssuedToken } from "../../src/index.ts";

const program = fileURLToPath(new URL("../../bin/varve.js", import.meta.url));
let home: string;
beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), "varve-access-"));
});
afterAll(() => rmSync(home, { recursive: true, force: true }));

function varve(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  return new Promise((done) => {
    const env = { ...process.env, VARVE_HOME: home, NO_COLOR: "1" };
    execFile(process.execPath, [program, ...args], { env }, (error, stdout, stderr) =>
      done({ code: Number(error?.code ?? 0), stdout, stderr }),
    );
  });
}

async function readJson<T>(...args: string[]): Promise<T> {
  return JSON.parse((await varve(...args, "--json")).stdout) as T;
}

it("shows the secret of a token once, and lists it without", async () => {
  const created = await varve("tokens", "create", "laptop", "--rights", "read,write", "--expires", "30d");
  expect(created.stdout).toMatch(/^varve_[\w-]{43}\n/);
  const secret = created.stdout.split("\n")[0] ?? "";
  const bound = await readJson<IssuedToken>("tokens", "create", "ci", "--agent", "Work", "--scope", "agent:work");
  expect(bound.token).toMatchObject({ agent: "work", scopes: ["agent:work"], rights: ["read", "write"] });
  const listed = await varve("tokens", "list", "--json");
  expect(listed.stdout).not.toContain(secret);
  expect((JSON.parse(listed.stdout) as AccessToken[]).map(({ name }) => name).sort()).toEqual(["ci", "laptop"]);
  expect((await varve("tokens", "create", "laptop")).code).toBe(1);
  expect((await varve("tokens", "create", "x", "--rights", "everything")).code).toBe(2);
  expect((await varve("tokens", "rotate", "nobody")).code).toBe(3);
  expect((await varve("tokens", "rotate", "laptop", "--grace", "1h")).stdout).toContain("still accepted for 1h");
  expect((await varve("tokens", "revoke", "ci")).code).toBe(0);
  expect((await varve("tokens", "list")).stdout).toMatch(/ci +revoked/);
});

it("records the owner's commands, and nothing of what they say", async () => {
  await varve("config", "set", "gateway.audit", "true");
  await varve("memory", "add", "The vault code is plover.");
  await varve("search", "plover");
  expect((await varve("sessions", "show", "agent:main:unknown")).code).toBe(3);
  const records = await readJson<AuditRecord[]>("audit", "list");
  expect(records.toReversed().map(({ action, status }) => [action, status])).toEqual([
    ["varve memory add", "started"],
    ["varve search", "started"],
    ["varve sessions show", "started"],
    ["varve sessions show", "SESSION_NOT_FOUND"],
    ["varve audit list", "started"],
  ]);
  expect(records[1]?.targets).toEqual({ session: "agent:main:unknown" });
  expect(JSON.stringify(records)).not.toContain("plover");
  const verified = await varve("audit", "verify");
  const head = /head is (\d+:[0-9a-f]{64})/.exec(verified.stdout)?.[1] ?? "";
  expect(verified.code).toBe(0);
  expect((await varve("audit", "verify", "--expect", head)).code).toBe(0);
  expect((await varve("audit", "verify", "--expect", `${head.slice(0, -1)}x`)).code).toBe(2);
  expect((await varve("audit", "verify", "--expect", `9999:${"0".repeat(64)}`)).code).toBe(1);
});

it("asks before it erases a person", async () => {
  const refused = await varve("forget-person", "telegram:5");
  expect([refused.code, refused.stderr]).toEqual([4, expect.stringContaining("--dry-run")]);
  expect((await varve("forget-person", "telegram:5", "--dry-run")).stdout).toContain("WOULD BE ERASED");
  const report = await readJson<{ verification: unknown }>("forget-person", "telegram:5", "--yes");
  expect(report.verification).toEqual({ searched: 0, found: 0 });
});

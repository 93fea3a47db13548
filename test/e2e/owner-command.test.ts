/** `varve owner` and the people in `varve status`, as a person runs them. */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Owner, openVarve, type Status, type UnknownPerson } from "../../src/index.ts";

interface People {
  owners: Owner[];
  unknown: UnknownPerson[];
}

const program = fileURLToPath(new URL("../../bin/varve.js", import.meta.url));
let home: string;
beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), "varve-owner-"));
  const varve = await openVarve({ home, background: false });
  for (const peer of ["5054873275", "77", "78", "$(touch /tmp/x)\u001b[31m"]) {
    const session = await varve.sessions.resolve({ channel: "telegram", peer }, { displayName: `Person ${peer}` });
    await varve.context.ingest(session, [{ role: "user", content: "Hello" }]);
  }
  await varve.sessions.resolve({ key: "agent:main:notes:direct:n1" }, { belongsTo: { itself: true } });
  await varve.close();
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

it("shows in the status who wrote and is unknown, three of them, with the command that makes them the owner", async () => {
  const { stdout } = await varve("status");
  expect(stdout).toMatch(/owners +none named/);
  expect(stdout).toContain("varve owner add telegram 78");
  expect(stdout).toContain("varve owner add telegram $'$(touch /tmp/x)\\u001b[31m'");
  expect(stdout).not.toContain("\u001b");
  expect(stdout.match(/varve owner add/g)).toHaveLength(3);
  expect(stdout).toContain("and 1 more");
  const { people } = await readJson<Status>("status");
  expect(people.owners).toEqual([]);
  expect(people.unknown.map(({ id }) => id)).toHaveLength(4);
  expect(people.unknown).toContainEqual(
    expect.objectContaining({ channel: "telegram", id: "5054873275", key: "agent:main:telegram:direct:5054873275" }),
  );
});

it("adds, lists and removes ids of the owner", async () => {
  const added = await varve("owner", "add", "Telegram", "5054873275");
  expect([added.code, added.stdout]).toEqual([0, expect.stringContaining("telegram 5054873275 is the owner of main")]);
  const listed = await readJson<People>("owner", "list");
  expect(listed.owners).toEqual([
    { channel: "telegram", id: "5054873275", addedBy: "owner", addedAt: expect.any(Number) },
  ]);
  expect(listed.unknown.map(({ id }) => id)).not.toContain("5054873275");
  expect((await varve("owner", "list")).stdout).toMatch(/^telegram +5054873275 +owner/m);
  expect((await varve("status")).stdout).toMatch(/owners +telegram 5054873275/);
  expect((await readJson<People>("owner", "list", "--agent", "work")).owners).toEqual([]);
  expect((await varve("owner", "remove", "telegram", "5054873275")).code).toBe(0);
  expect((await varve("owner", "remove", "telegram", "5054873275")).code).toBe(3);
  expect((await readJson<People>("owner", "list")).owners).toEqual([]);
  expect((await varve("owner", "add", "telegram", "")).code).toBe(2);
});

it("says that an owner of the settings is changed there", async () => {
  await varve("config", "set", "turn.owners", '{"telegram": ["99"]}');
  expect((await varve("owner", "list")).stdout).toMatch(/^telegram +99 +turn\.owners/m);
  const refused = await varve("owner", "remove", "telegram", "99");
  expect([refused.code, refused.stderr]).toEqual([4, expect.stringContaining("turn.owners")]);
});

it("makes a session of nobody the owner's, and leaves a person's to the person", async () => {
  const claimed = await varve("owner", "claim", "agent:main:notes:direct:n1");
  expect([claimed.code, claimed.stdout]).toEqual([0, expect.stringContaining("belongs to the owner of main")]);
  const refused = await varve("owner", "claim", "agent:main:telegram:direct:77");
  expect([refused.code, refused.stderr]).toEqual([4, expect.stringContaining("varve owner add")]);
  expect((await varve("owner", "claim", "agent:main:nothing:direct:1")).code).toBe(3);
});

it("a running gateway prints once who is unknown, and how to make them the owner", async () => {
  await varve("config", "set", "turn.runner", "offline");
  const env = { ...process.env, VARVE_HOME: home, NO_COLOR: "1" };
  const child = spawn(process.execPath, [program, "start", "--port", "0"], { env });
  let shown = "";
  child.stdout.on("data", (data: Buffer) => {
    shown += data.toString();
  });
  try {
    await expect.poll(() => shown, { timeout: 20_000 }).toContain("Press Ctrl-C to stop");
    const url = /running at (\S+)/.exec(shown)?.[1];
    const token = readFileSync(join(home, "gateway-token"), "utf8").trim();
    for (const text of ["Hello", "Again"]) {
      const answer = await fetch(`${url}/api/turns`, {
        method: "POST",
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
        body: JSON.stringify({ channel: "signal", from: { id: "99", name: "Eve\u001b[31m" }, text, debounceMs: 0 }),
      });
      expect(answer.status).toBe(200);
    }
    await expect.poll(() => shown).toContain("varve owner add signal 99");
    expect(shown.match(/varve owner add/g)).toHaveLength(1);
    expect(shown).toContain("Eve\\x1b[31m, signal 99 wrote for the first time");
  } finally {
    child.kill("SIGTERM");
    await once(child, "exit");
  }
});

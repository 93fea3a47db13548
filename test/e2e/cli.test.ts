import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { examples } from "../../src/cli/examples.ts";
import { databaseKinds, scratchDatabase } from "../support/databases.ts";

const program = fileURLToPath(new URL("../../bin/varve.js", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "varve-cli-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let home = "";
let homes = 0;
beforeEach(() => {
  homes += 1;
  home = join(folder, `home-${homes}`);
  mkdirSync(home, { mode: 0o700 });
});

interface Ran {
  code: number;
  stdout: string;
  stderr: string;
}

const environment = (more: NodeJS.ProcessEnv = {}) => {
  const { VARVE_TEST_POSTGRES_URL: _url, ...rest } = process.env;
  return { ...rest, VARVE_HOME: home, NO_COLOR: "1", ...more };
};

function varve(args: string[], options: { env?: NodeJS.ProcessEnv; cwd?: string } = {}): Promise<Ran> {
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [program, ...args],
      { env: environment(options.env), cwd: options.cwd ?? home, maxBuffer: 64 * 1024 * 1024 },
      (error, stdout, stderr) => resolve({ code: error ? Number(error.code ?? 1) : 0, stdout, stderr }),
    );
  });
}

const line = (index: number) =>
  `${JSON.stringify({ role: "user", content: `message ${index}`, timestamp: 1_700_000_000_000 + index })}\n`;
const notes = (count: number) => Array.from({ length: count }, (_, index) => line(index)).join("");

describe("every example in the help", () => {
  test("runs, in order, in an empty home", async () => {
    mkdirSync(join(home, "transcripts"));
    writeFileSync(join(home, "transcripts", "notes.jsonl"), notes(5));
    for (const [command, lines] of Object.entries(examples)) {
      if (command === "start") continue;
      for (const example of lines) {
        const ran = await runShell(example);
        expect([example, ran.code, ran.code === 0 ? "" : ran.stderr]).toEqual([example, 0, ""]);
      }
    }
    expect(readFileSync(join(home, "notes.html"), "utf8")).toContain("message 3");
  });

  test("there is one for every command", async () => {
    const help = await varve(["--help"]);
    expect(help.code).toBe(0);
    const commands = [...help.stdout.matchAll(/^ {2}(\w+) /gm)]
      .map((found) => found[1])
      .filter((name) => name !== "help");
    for (const command of commands) {
      expect(Object.keys(examples).some((name) => name === command || name.startsWith(`${command} `))).toBe(true);
    }
  });
});

/** A line as a person types it, with `varve` as the program under test. */
function runShell(text: string): Promise<Ran> {
  return new Promise((resolve) => {
    const script = text.replace(/^varve/, `"${process.execPath}" "${program}"`);
    const child = execFile("sh", ["-c", script], { env: environment(), cwd: home }, (error, stdout, stderr) =>
      resolve({ code: error ? Number(error.code ?? 1) : 0, stdout, stderr }),
    );
    // What reads its input ends with it.
    child.stdin?.end();
  });
}

describe("import and export", () => {
  test("count exactly, once, in the JSON of the contract", async () => {
    const file = join(home, "notes.jsonl");
    writeFileSync(file, notes(1200));
    const first = await varve(["import", file, "--json"]);
    expect(JSON.parse(first.stdout)).toEqual({
      files: 1,
      sessions: 1,
      imported: 1200,
      duplicates: 0,
      quarantined: 0,
      seconds: expect.any(Number),
    });
    expect(first.stderr).toContain("1,200 messages imported");
    appendFileSync(file, `${line(1200)}{broken\n${line(1201)}`);
    const second = await varve(["import", file, "--json"]);
    expect(JSON.parse(second.stdout)).toMatchObject({ imported: 2, duplicates: 1200, quarantined: 1 });
    expect(second.stderr).toContain("notes.jsonl:1202");
    const exported = await varve(["export", "notes"]);
    writeFileSync(join(home, "again.jsonl"), exported.stdout);
    const other = join(home, "other");
    expect((await varve(["import", "again.jsonl", "--home", other])).code).toBe(0);
    const back = await varve(["export", "notes", "--home", other]);
    expect(back.stdout).toBe(exported.stdout);
  });

  test("watching brings in what is added, and Ctrl-C ends it", async () => {
    const file = join(home, "growing.jsonl");
    writeFileSync(file, notes(2));
    const child = spawn(process.execPath, [program, "import", file, "--watch"], { env: environment(), cwd: home });
    const output = child.stdout.setEncoding("utf8")[Symbol.asyncIterator]() as AsyncIterator<string>;
    let seen = "";
    /** Reads on until a text is there; the output ends with the program, which is a failure here. */
    const until = async (text: string) => {
      while (!seen.includes(text)) {
        const { done, value } = await output.next();
        if (done) throw new Error(`${JSON.stringify(text)} is not in ${JSON.stringify(seen)}`);
        seen += value;
      }
    };
    await until("Watching");
    appendFileSync(file, line(2));
    await until("1 messages imported");
    const exited = once(child, "exit");
    child.kill("SIGINT");
    const [code] = await exited;
    expect(code).toBe(0);
  });
});

describe("what goes wrong is said with a remedy and the right exit code", () => {
  const expectError = (ran: Ran, code: number, ...words: string[]) => {
    for (const word of words) expect(ran.stderr).toContain(word);
    expect(ran.stderr).toContain("→");
    expect(ran.code).toBe(code);
  };

  test("a wrong key, session, file, format and command", async () => {
    expectError(await varve(["sessions", "show", "agent:main:nobody"]), 3, "no session");
    expectError(await varve(["import", "/nowhere"]), 3, "/nowhere");
    writeFileSync(join(home, "odd.txt"), "odd\n");
    expectError(await varve(["import", "odd.txt"]), 2, "--source");
    expect((await varve(["frobnicate"])).code).toBe(2);
    expect((await varve(["export", "x", "--format", "pdf"])).code).toBe(2);
    const json = await varve(["sessions", "show", "agent:main:nobody", "--json"]);
    expect(JSON.parse(json.stdout)).toMatchObject({ error: { code: "SESSION_NOT_FOUND", remedy: expect.any(String) } });
  });

  test("a wrong setting, wherever it is set", async () => {
    writeFileSync(join(home, "config.yaml"), "session:\n  dmScop: main\ngateway:\n  port: many\n");
    expectError(await varve(["status"]), 2, "dmScope", "config.yaml:2", "config.yaml:4");
    rmSync(join(home, "config.yaml"));
    const unknown = await varve(["status"], { env: { VARVE_GATEWAY_PROT: "1" } });
    expect(unknown).toMatchObject({ code: 0, stderr: expect.stringContaining("VARVE_GATEWAY_PORT") });
    expectError(await varve(["config", "set", "gateway.port", "many"]), 2, "gateway.port");
  });

  test("a database that is damaged, of another program, or a folder", async () => {
    writeFileSync(join(home, "varve.db"), "this is no database".repeat(1000));
    expectError(await varve(["status"]), 1, "damaged or is not a Varve database");
    const { default: Database } = await import("better-sqlite3");
    const db = new Database(join(home, "foreign.db"));
    db.exec("create table theirs (id integer)");
    db.close();
    expectError(await varve(["status", "--database", "foreign.db"]), 1, "another program");
    mkdirSync(join(home, "folder.db"));
    expectError(await varve(["status", "--database", "folder.db"]), 5, "cannot be opened");
  });

  test("a database that a newer program wrote", async () => {
    await varve(["status"]);
    const { default: Database } = await import("better-sqlite3");
    const db = new Database(join(home, "varve.db"));
    db.exec("update meta set value = '99' where name = 'schema_version'");
    // Without it, no older program may use the database.
    db.exec("delete from meta where name = 'schema_compatible'");
    db.close();
    expectError(await varve(["status"]), 4, "version 99");
  });

  test("PostgreSQL that cannot be reached, or lets nobody in", async () => {
    expectError(await varve(["status", "--database", "postgres://u:secret@127.0.0.1:1/x"]), 5, "127.0.0.1:1");
    const ran = await varve(["status", "--database", "postgres://u:secret@127.0.0.1:1/x"]);
    expect(ran.stderr).not.toContain("secret");
  });

  test.runIf(databaseKinds.includes("postgres"))("a database that PostgreSQL does not have", async () => {
    const url = new URL(process.env.VARVE_TEST_POSTGRES_URL ?? "");
    url.pathname = "/not_there";
    expectError(await varve(["status", "--database", url.href]), 5, "not_there");
  });

  test("a port that is in use", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    expectError(await varve(["start", "--port", String(port)]), 1, String(port));
    server.close();
  });

  test("a host that others can reach, without tokens", async () => {
    expectError(await varve(["start", "--port", "0", "--host", "0.0.0.0"]), 4, "tokens");
  });

  test.runIf(process.getuid?.() !== 0)("a folder that cannot be written", async () => {
    chmodSync(home, 0o500);
    expectError(await varve(["status"]), 4, "cannot be written");
    chmodSync(home, 0o700);
  });

  test("deleting without --yes", async () => {
    writeFileSync(join(home, "notes.jsonl"), notes(3));
    await varve(["import", "notes.jsonl"]);
    expectError(await varve(["sessions", "delete", "notes"]), 4, "--yes");
    expect((await varve(["sessions", "delete", "notes", "--yes"])).code).toBe(0);
  });
});

test("a session is shown as a hand-over within a number of tokens", async () => {
  const rows = [
    { role: "user", content: "When does the ferry to Korsund leave on Friday?" },
    { role: "assistant", content: "The ferry to Korsund leaves on Friday at 07:40 from pier 3." },
    { role: "user", content: "Book two seats on it for Mirela and me." },
  ];
  writeFileSync(join(home, "ferry.jsonl"), rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
  await varve(["import", join(home, "ferry.jsonl")]);
  const shown = await varve(["sessions", "show", "ferry", "--summary"]);
  expect(shown.code).toBe(0);
  expect(shown.stdout).toContain("3 messages; last: Book two seats on it for Mirela and me");
  expect(shown.stdout).toContain("07:40");
  const json = await varve(["sessions", "show", "ferry", "--summary", "--tokens", "200", "--json"]);
  expect(JSON.parse(json.stdout)).toMatchObject({
    handover: { title: "When does the ferry to Korsund leave on Friday?", description: expect.any(String) },
  });
  expect((await varve(["sessions", "show", "ferry", "--summary", "--tokens", "9"])).code).not.toBe(0);
});

describe("the gateway as a command", () => {
  test("starts, guards its door, answers, and stops on a signal", async () => {
    writeFileSync(join(home, "notes.jsonl"), notes(3));
    await varve(["import", "notes.jsonl"]);
    const child = spawn(process.execPath, [program, "start", "--port", "0"], { env: environment(), cwd: home });
    const [chunk] = (await once(child.stdout, "data")) as [Buffer];
    const url = /http:\/\/127\.0\.0\.1:\d+/.exec(chunk.toString())?.[0] ?? "";
    expect(await (await fetch(`${url}/health`)).json()).toEqual({ status: "up" });
    expect((await fetch(`${url}/api/status`)).status).toBe(401);
    const token = readFileSync(join(home, "gateway-token"), "utf8").trim();
    const answer = await fetch(`${url}/api/status`, { headers: { authorization: `Bearer ${token}` } });
    expect(await answer.json()).toMatchObject({ messages: 3, engine: "sqlite" });
    child.kill("SIGTERM");
    const [code] = await once(child, "exit");
    expect(code).toBe(0);
    expect(readFileSync(join(home, "logs", "gateway.log"), "utf8")).not.toContain(token);
  });
});

describe.runIf(databaseKinds.includes("postgres"))("everything on PostgreSQL", () => {
  test("imports, lists, exports, backs up and passes the doctor", async () => {
    const scratch = await scratchDatabase("postgres");
    const env = { VARVE_DATABASE: scratch.database };
    writeFileSync(join(home, "notes.jsonl"), notes(700));
    expect(JSON.parse((await varve(["import", "notes.jsonl", "--json"], { env })).stdout)).toMatchObject({
      imported: 700,
    });
    expect((await varve(["sessions", "list"], { env })).stdout).toContain("agent:main:jsonl:direct:notes");
    expect((await varve(["doctor"], { env })).code).toBe(0);
    const backup = JSON.parse((await varve(["backup", "--json"], { env })).stdout) as { file: string };
    expect(existsSync(backup.file)).toBe(true);
    expect((await varve(["restore", backup.file, "--yes"])).code).toBe(0);
    expect(JSON.parse((await varve(["status", "--json"])).stdout)).toMatchObject({ messages: 700, engine: "sqlite" });
    await scratch.drop();
  });
});

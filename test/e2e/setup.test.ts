/** `varve setup` in homes of its own: what it writes, what it leaves alone, and what it takes away again. */
import { execFile } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parse } from "@decimalturn/toml-patch";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openVarve } from "../../src/index.ts";
import { writeLcmDatabase } from "../support/lcm-database.ts";

const program = fileURLToPath(new URL("../../bin/varve.js", import.meta.url));
let user: string;

beforeEach(() => {
  user = mkdtempSync(join(tmpdir(), "varve-setup-"));
});
afterEach(() => rmSync(user, { recursive: true, force: true }));

interface Ran {
  code: number;
  stdout: string;
  stderr: string;
}

function setup(...args: string[]): Promise<Ran> {
  return new Promise((resolve) => {
    const env = { PATH: dirname(process.execPath), HOME: user, NO_COLOR: "1", APPDATA: join(user, "AppData") };
    const child = execFile(process.execPath, [program, "setup", ...args], { env, cwd: user }, (error, stdout, stderr) =>
      resolve({ code: error ? Number(error.code ?? 1) : 0, stdout, stderr }),
    );
    child.stdin?.end();
  });
}

function files(folder = user): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => !file.startsWith(join(user, ".varve")))
    .sort();
}

const desktop = {
  darwin: "Library/Application Support/Claude/claude_desktop_config.json",
  win32: "AppData/Claude/claude_desktop_config.json",
}[process.platform as string];
const jsonFiles: Record<string, string> = {
  "claude-desktop": desktop ?? ".config/Claude/claude_desktop_config.json",
  cursor: ".cursor/mcp.json",
};
const names = [...Object.keys(jsonFiles), "codex", "claude-code", "pi"];
const call = { command: process.execPath, args: [program, "mcp"] };

/** The person's own configuration, as they may have written it. */
function own(name: string): { file: string; text: string } {
  if (name === "codex") {
    const text = 'model = "gpt"\n\n[mcp_servers.docs] # mine\ncommand = "docs"\nargs = ["""a\n[x]"""]';
    return { file: join(user, ".codex", "config.toml"), text };
  }
  const servers = '{\n      "mine":   {"command": "x", "args": ["}"]}\n   }';
  const text = `{\n   "mcpServers": ${servers},\n   "theme": "dark"\n}\n\n`;
  return { file: join(user, jsonFiles[name] ?? ""), text };
}

function serverIn(name: string, text: string): unknown {
  if (name === "codex") {
    const { mcp_servers: servers } = parse(text) as { mcp_servers: { varve?: unknown } };
    return structuredClone(servers.varve);
  }
  const json = JSON.parse(text) as { mcpServers?: object; mcp?: { servers: object } };
  return (json.mcpServers ?? json.mcp?.servers)?.["varve" as never];
}

describe.each(names)("%s", (name) => {
  test("--print and a missing --yes change nothing, and show the change", async () => {
    const printed = await setup(name, "--print");
    expect(printed).toMatchObject({ code: 0, stderr: "" });
    expect(printed.stdout).toContain("varve");
    const refused = await setup(name);
    expect(refused.code).toBe(4);
    expect(refused.stderr).toContain("--yes");
    expect(refused.stdout).toContain(printed.stdout.trim());
    expect(files()).toEqual([]);
  });

  test("is set up once, and taken away without a trace", async () => {
    expect((await setup(name, "--yes")).code).toBe(0);
    const written = files().map((file) => [file, readFileSync(file, "utf8")]);
    expect(written.length).toBeGreaterThan(0);
    const again = await setup(name, "--yes");
    expect(again.stdout).toContain("already");
    expect(files().map((file) => [file, readFileSync(file, "utf8")])).toEqual(written);
    expect((await setup(name, "--remove", "--yes")).code).toBe(0);
    expect(files()).toEqual([]);
    expect((await setup(name, "--remove", "--yes")).stdout).toContain("not set up");
  });

  test("names the memory it was set up for", async () => {
    const [home, other] = [join(user, ".varve", "my memory"), join(user, ".varve", "other")];
    expect((await setup(name, "--yes", "--home", home)).code).toBe(0);
    expect(files().some((file) => readFileSync(file, "utf8").includes(home))).toBe(true);
    // Setting it up for another one changes the entry; there is never a second, and none comes back.
    expect((await setup(name, "--yes", "--home", other)).code).toBe(0);
    expect(files().some((file) => readFileSync(file, "utf8").includes(home))).toBe(false);
    expect((await setup(name, "--remove", "--yes", "--home", other)).code).toBe(0);
    expect(files().some((file) => readFileSync(file, "utf8").includes("varve"))).toBe(false);
  });
});

describe.each([...Object.keys(jsonFiles), "codex"])("%s with a configuration of the person's own", (name) => {
  test("keeps every byte of it, its mode and a copy", async () => {
    const { file, text } = own(name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    chmodSync(file, 0o640);
    expect((await setup(name, "--yes")).code).toBe(0);
    const edited = readFileSync(file, "utf8");
    expect(serverIn(name, edited)).toEqual(call);
    expect(edited.replaceAll(/\s/g, "")).toContain(name === "codex" ? "#mine" : '"mine":{"command":"x","args":["}"]}');
    expect(statSync(file).mode & 0o777).toBe(0o640);
    const backups = join(user, ".varve", "backups", "setup");
    expect(readFileSync(join(backups, readdirSync(backups)[0] ?? ""), "utf8")).toBe(text);
    expect((await setup(name, "--remove", "--yes")).code).toBe(0);
    expect(readFileSync(file, "utf8")).toBe(text);
  });

  test("keeps comments, and servers that are written on one line", async () => {
    const { file, text } = own(name);
    const written =
      name === "codex"
        ? 'mcp_servers = { docs = { command = "docs" } } # mine\n'
        : text.replace(/\}\s*$/, (end) => `// mine\n${end}`);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, written);
    expect((await setup(name, "--yes")).code).toBe(0);
    expect(readFileSync(file, "utf8")).toContain("mine");
    expect(readFileSync(file, "utf8")).toContain("varve");
    expect((await setup(name, "--remove", "--yes")).code).toBe(0);
    expect(readFileSync(file, "utf8")).toBe(written);
  });

  test("puts back an entry of the same name", async () => {
    const { file, text } = own(name);
    const mine = text.replaceAll("mine", "varve").replace("mcp_servers.docs", "mcp_servers.varve");
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, mine);
    expect((await setup(name, "--yes")).code).toBe(0);
    expect(serverIn(name, readFileSync(file, "utf8"))).toEqual(call);
    expect((await setup(name, "--remove", "--yes")).code).toBe(0);
    expect(readFileSync(file, "utf8")).toBe(mine);
  });

  test("refuses a file it cannot edit safely, and leaves it as it is", async () => {
    const { file } = own(name);
    mkdirSync(dirname(file), { recursive: true });
    const broken =
      name === "codex"
        ? ["[mcp_servers.docs\n", 'a = """b\n', "mcp_servers = 1\n", "a = 1\na = 2\n"]
        : ["{", "[]", '{"a": 1 /* b }'];
    for (const text of broken) {
      writeFileSync(file, text);
      for (const rest of [[], ["--remove"]]) {
        const ran = await setup(name, "--yes", ...rest);
        expect([text, ran.code]).not.toEqual([text, 0]);
        expect(ran.stderr).toContain("nothing was changed");
        expect(ran.stderr).toContain("→");
      }
      expect(readFileSync(file, "utf8")).toBe(text);
    }
  });
});

describe("claude-code next to the person's own files", () => {
  test("leaves settings, other skills and files in its own folder alone", async () => {
    const claude = join(user, ".claude");
    mkdirSync(join(claude, "skills", "mine"), { recursive: true });
    writeFileSync(join(claude, "settings.json"), '{"hooks": {} /* mine */}');
    writeFileSync(join(claude, "skills", "mine", "SKILL.md"), "mine");
    expect((await setup("claude-code", "--yes")).code).toBe(0);
    writeFileSync(join(claude, "skills", "varve", "notes.md"), "mine");
    const hooks = readFileSync(join(claude, "skills", "varve", "hooks", "hooks.json"), "utf8");
    expect(hooks).toContain(`${program} hook PreCompact`);
    expect((await setup("claude-code", "--remove", "--yes")).code).toBe(0);
    expect(files().map((file) => file.slice(claude.length + 1))).toEqual([
      "settings.json",
      "skills/mine/SKILL.md",
      "skills/varve/notes.md",
    ]);
    expect(readFileSync(join(claude, "settings.json"), "utf8")).toBe('{"hooks": {} /* mine */}');
  });

  test("refuses a skill that goes by its name", async () => {
    const folder = join(user, ".claude", "skills", "varve");
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "SKILL.md"), "mine");
    for (const rest of [[], ["--remove"]]) await setup("claude-code", "--yes", ...rest);
    expect(readdirSync(folder)).toEqual(["SKILL.md"]);
    expect((await setup("claude-code", "--yes")).code).toBe(4);
  });

  test("every call in the plugin is the program, with the words quoted", async () => {
    expect((await setup("claude-code", "--yes", "--home", join(user, "it's here"))).code).toBe(0);
    const folder = join(user, ".claude", "skills", "varve");
    const hooks = readFileSync(join(folder, "hooks", "hooks.json"), "utf8");
    const commands = [...hooks.matchAll(/"command": (".*")/g)].map((found) => JSON.parse(found[1] ?? '""') as string);
    expect(commands).toHaveLength(7);
    for (const command of commands) {
      const ran = await new Promise<Ran>((resolve) => {
        const child = execFile("sh", ["-c", command], { env: { HOME: user } }, (error, stdout, stderr) =>
          resolve({ code: error ? 1 : 0, stdout, stderr }),
        );
        child.stdin?.end("{}");
      });
      expect(ran).toEqual({ code: 0, stdout: "", stderr: "" });
    }
    expect(existsSync(join(user, "it's here", "logs", "hook.log"))).toBe(true);
  });
});

describe("pi next to the person's own files", () => {
  test("leaves other extensions, settings and servers alone", async () => {
    const agent = join(user, ".pi", "agent");
    const own = {
      "settings.json": '{ "compaction": {} /* mine */ }',
      "mcp.json": '{"mcpServers": {"mine": {}}}',
      "extensions/mine.js": "export default () => undefined;\n",
    };
    mkdirSync(join(agent, "extensions"), { recursive: true });
    for (const [name, text] of Object.entries(own)) writeFileSync(join(agent, name), text);
    expect((await setup("pi", "--yes")).code).toBe(0);
    expect(files().map((file) => file.slice(agent.length + 1))).toContain("extensions/varve.js");
    expect((await setup("pi", "--remove", "--yes")).code).toBe(0);
    expect(files()).toHaveLength(3);
    for (const [name, text] of Object.entries(own)) expect(readFileSync(join(agent, name), "utf8")).toBe(text);
  });
});

describe("openclaw with the plugins that it replaces", () => {
  const config = {
    "lossless-claw": { enabled: true, config: { contextThreshold: 0.6, freshTailCount: 12, other: 1 } },
    "memory-lancedb-pro": { enabled: true, config: { autoRecall: false } },
  };
  const text = `{\n  // mine\n  "plugins": {\n    "slots": { "memory": "memory-lancedb-pro" },\n    "entries": ${JSON.stringify(config)}\n  },\n}\n`;

  test("takes over their data and equal settings, and leaves theirs as they are", async () => {
    const home = join(user, ".openclaw");
    mkdirSync(join(home, "agents", "main", "sessions"), { recursive: true });
    writeFileSync(join(home, "agents", "main", "sessions", "sessions.json"), "{}");
    writeFileSync(join(home, "openclaw.json"), text);
    const messages = Array.from({ length: 16 }, (_, index) => ({
      role: index % 2 === 0 ? ("user" as const) : ("assistant" as const),
      content: `Line ${index} about the walnut tree.`,
    }));
    const file = join(home, "lcm.db");
    writeLcmDatabase(file, { sessionId: "s1", key: "agent:main:telegram:direct:7", messages });
    const before = readFileSync(file);
    mkdirSync(join(home, "memory", "lancedb-pro", "memories.lance"), { recursive: true });

    const ran = await setup("openclaw", "--yes", "--json", "--from", "lossless-claw,memory-lancedb-pro");
    // The reader of LanceDB is a package of its own: what could not be read is said, with what to do.
    const { followed } = JSON.parse(ran.stdout) as { followed: { failure: string } };
    expect(followed.failure).toContain("npm install @lancedb/lancedb");
    const varve = await openVarve({ home: join(user, ".varve"), background: false });
    const session = await varve.sessions.get("agent:main:telegram:direct:7");
    const { summaries } = await varve.context.overview(session);
    await varve.close();
    expect([session.messageCount, summaries.length]).toEqual([16, 2]);
    const settings = readFileSync(join(user, ".varve", "config.yaml"), "utf8");
    expect(settings).toMatch(/contextThreshold: 0\.6[\s\S]*freshTailCount: 12/);
    expect(settings).toMatch(/recall: false/);
    expect(settings).not.toContain("other");
    expect(readFileSync(join(home, "openclaw.json"), "utf8")).toContain('"lossless-claw":{"enabled":false');
    expect(readFileSync(file).equals(before)).toBe(true);

    expect((await setup("openclaw", "--remove", "--yes")).code).toBe(0);
    expect(readFileSync(join(home, "openclaw.json"), "utf8")).toBe(text);
    expect(readFileSync(file).equals(before)).toBe(true);
  });
});

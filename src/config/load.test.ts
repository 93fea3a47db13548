import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { VarveError } from "../domain/index.ts";
import { checkConfig, type LoadedConfig, loadConfig, printFault, printSource } from "./index.ts";

let home: string;
let file: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "varve-config-"));
  file = join(home, "config.yaml");
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

function sourceOf(loaded: LoadedConfig, key: string): string {
  return printSource(loaded.sources.get(key) ?? { kind: "default" });
}

/** The faults of a file's text, printed, with its path cut off. */
function faultsOf(text: string): string[] {
  writeFileSync(file, text);
  return checkConfig(home).map((fault) => printFault(fault).replace(file, "config.yaml"));
}

describe("without any settings", () => {
  test("the defaults hold", () => {
    const loaded = loadConfig({ home, env: {} });
    expect(loaded.config).toMatchObject({
      database: join(home, "varve.db"),
      agent: "main",
      timezone: Intl.DateTimeFormat().resolvedOptions().timeZone,
      redact: true,
      session: {
        dmScope: "main",
        mainKey: "main",
        identityLinks: {},
        reset: { mode: "auto", atHour: 4, idleMinutes: 240 },
        resetByType: {},
        resetByChannel: {},
        resetTriggers: ["/new", "/reset"],
        forkMaxTokens: 100_000,
      },
      sendPolicy: { default: "allow", rules: [] },
      cron: { runLogMaxBytes: 2_000_000, runLogMaxRows: 2_000 },
      gateway: { host: "127.0.0.1", port: 7411, tokens: [] },
      import: { batchSize: 500 },
      log: { level: "info" },
    });
    expect(new Set([...loaded.sources.values()].map(printSource))).toEqual(new Set(["default"]));
  });

  test("the home folder is ~/.varve, or VARVE_HOME, or what the caller says", () => {
    expect(loadConfig({ env: { VARVE_HOME: home } }).home).toBe(home);
    expect(loadConfig({ home, env: { VARVE_HOME: "/nowhere" } }).home).toBe(home);
    expect(loadConfig({ env: { VARVE_HOME: "~/.varve-that-is-not-there" } }).home).toBe(
      join(homedir(), ".varve-that-is-not-there"),
    );
  });

  test("an empty file and one of comments are as good as none", () => {
    expect(faultsOf("")).toEqual([]);
    expect(faultsOf("# nothing yet\n")).toEqual([]);
    expect(faultsOf("session:\ngateway:\n  port:\n")).toEqual([]);
    expect(loadConfig({ home, env: {} }).config.gateway.port).toBe(7411);
  });
});

describe("precedence", () => {
  test("is option, environment, file, default, and each value knows its source", () => {
    writeFileSync(file, "agent: from-file\ngateway:\n  port: 1\n  host: 0.0.0.0\nlog: { level: debug }\n");
    const loaded = loadConfig({
      home,
      env: { VARVE_GATEWAY_PORT: "2", VARVE_LOG_LEVEL: "warn", PATH: "/bin" },
      overrides: { log: { level: "error" }, gateway: { port: undefined } },
    });
    expect(loaded.config.log.level).toBe("error");
    expect(loaded.config.gateway).toMatchObject({ port: 2, host: "0.0.0.0" });
    expect(loaded.config.agent).toBe("from-file");
    expect(sourceOf(loaded, "log.level")).toBe("option");
    expect(sourceOf(loaded, "gateway.port")).toBe("env VARVE_GATEWAY_PORT");
    expect(sourceOf(loaded, "gateway.host")).toBe(`file ${file}:4`);
    expect(sourceOf(loaded, "redact")).toBe("default");
  });

  test("replaces lists and mappings as a whole", () => {
    writeFileSync(file, "session:\n  resetTriggers: [/a, /b]\n  identityLinks: { ada: [tg:1] }\n");
    const env = { VARVE_SESSION_RESET_TRIGGERS: "[/c]", VARVE_SESSION_IDENTITY_LINKS: '{"bob":["x"]}' };
    const { session } = loadConfig({ home, env }).config;
    expect(session.resetTriggers).toEqual(["/c"]);
    expect(session.identityLinks).toEqual({ bob: ["x"] });
  });
});

describe("the environment", () => {
  test("gives text, numbers, booleans, lists and mappings", () => {
    const env = {
      VARVE_AGENT: "42",
      VARVE_REDACT: "false",
      VARVE_STORE_CACHE_MIB: "16",
      VARVE_SESSION_RESET_BY_TYPE_DIRECT: "{mode: daily, atHour: 5}",
      VARVE_SESSION_DM_SCOPE: "per-peer",
      VARVE_TIMEZONE: "",
    };
    const { config } = loadConfig({ home, env });
    expect(config.agent).toBe("42");
    expect(config.redact).toBe(false);
    expect(config.store.cacheMiB).toBe(16);
    expect(config.session.resetByType.direct).toEqual({ mode: "daily", atHour: 5 });
    expect(config.session.dmScope).toBe("per-peer");
  });

  test("may hold variables that are not settings, and no unknown ones", () => {
    const env = { VARVE_TEST_ANYTHING: "1", VARVE_TOKEN: "t", VARVE_URL: "u", VARVE_TRANSCRIPTS: "x" };
    expect(checkConfig(home, env)).toEqual([]);
    expect(checkConfig(home, { VARVE_GATEWAY_PROT: "1" }).map(printFault)).toEqual([
      "VARVE_GATEWAY_PROT: no setting has this variable. Did you mean VARVE_GATEWAY_PORT?",
    ]);
  });

  test("is told what was wrong with a value", () => {
    const env = { VARVE_GATEWAY_PORT: "eighty", VARVE_SEND_POLICY_RULES: "[{", VARVE_LOG_LEVEL: "loud" };
    const faults = checkConfig(home, env).map(printFault);
    expect(faults).toHaveLength(3);
    expect(faults).toContain('VARVE_GATEWAY_PORT: gateway.port must be a whole number from 0 to 65535; got "eighty".');
    expect(faults).toContain(
      'VARVE_LOG_LEVEL: log.level must be one of silent, fatal, error, warn, info, debug, trace; got "loud".',
    );
    expect(faults.join("\n")).toMatch(/VARVE_SEND_POLICY_RULES: sendPolicy.rules cannot be read: it is neither/);
  });
});

describe("a database", () => {
  test("is a path from the home folder in the file, and from here when it was typed", () => {
    writeFileSync(file, "database: data/other.db\n");
    expect(loadConfig({ home, env: {} }).config.database).toBe(join(home, "data/other.db"));
    const env = { VARVE_DATABASE: "other.db" };
    expect(loadConfig({ home, env }).config.database).toBe(join(process.cwd(), "other.db"));
    expect(loadConfig({ home, env: { VARVE_DATABASE: "~/x.db" } }).config.database).toBe(join(homedir(), "x.db"));
  });

  test("may be on PostgreSQL and on nothing else, and a fault does not tell its password", () => {
    const url = "postgres://ada:secret@db.example/varve";
    expect(loadConfig({ home, env: {}, overrides: { database: url } }).config.database).toBe(url);
    const [fault] = faultsOf("database: mysql://ada:secret@db.example/varve\n");
    expect(fault).toMatch(/^config.yaml:1: database must be a path or a postgres:\/\/ URL; got "mysql:\/\/ada:•+@/);
    expect(fault).not.toContain("secret");
  });
});

describe("faults of a file", () => {
  test("are all reported at once, with line, value and what is allowed", () => {
    const text = [
      "agnt: main",
      "session:",
      "  dmscope: main",
      "  dmScope: everybody",
      "  reset:",
      "    atHour: 24",
      "gateway:",
      "  tokens:",
      "    - name: laptop",
      "      tokn: sha256:00",
      "      rights: [read, fly]",
    ].join("\n");
    expect(faultsOf(text).sort()).toEqual([
      "config.yaml:10: gateway.tokens[0].tokn is not known here. Did you mean gateway.tokens[0].token?",
      "config.yaml:11: gateway.tokens[0].rights[1] must be one of read, write, admin; got something else, not shown here.",
      "config.yaml:1: agnt is not a setting. Did you mean agent?",
      "config.yaml:3: session.dmscope is not a setting. Did you mean session.dmScope?",
      'config.yaml:4: session.dmScope must be one of main, per-peer, per-channel-peer, per-account-channel-peer; got "everybody".',
      "config.yaml:6: session.reset.atHour must be a whole number from 0 to 23; got 24.",
      "config.yaml:9: gateway.tokens[0].token is missing: it must be text.",
    ]);
  });

  test("are one error, with a remedy", () => {
    writeFileSync(file, "a: 1\nb: 2\n");
    const error = catchError(() => loadConfig({ home, env: {} }));
    expect(error.code).toBe("BAD_CONFIG");
    expect(error.message).toBe(
      `2 settings are wrong.\n  ${file}:1: a is not a setting.\n  ${file}:2: b is not a setting.`,
    );
    expect(error.remedy).toMatch(/varve config list/);
    expect(error.details?.faults).toHaveLength(2);
  });

  test("name the section a misplaced key belongs to", () => {
    expect(faultsOf("port: 80\n")).toEqual(["config.yaml:1: port is not a setting. Did you mean gateway.port?"]);
    expect(faultsOf("gateway:\n  dmScope: main\n")).toEqual([
      "config.yaml:2: gateway.dmScope is not a setting. Did you mean session.dmScope?",
    ]);
  });

  test("of syntax say line and column", () => {
    expect(faultsOf("agent: main\nsession: [1, 2\nlog: x\n")[0]).toMatch(/^config.yaml:\d+:\d+: this is not YAML: /);
    expect(faultsOf("agent: a\nagent: b\n")[0]).toMatch(/^config.yaml:2:1: this is not YAML: .*unique/);
    expect(faultsOf("agent: !secret x\n")[0]).toMatch(/^config.yaml:1:8: this is not YAML: .*tag/);
  });

  test("say that a number was read where text is wanted", () => {
    expect(faultsOf("agent: 42\n")).toEqual(["config.yaml:1: agent must be text; got 42, which needs quotes."]);
  });

  test("include a plain token, which is not repeated", () => {
    const [fault] = faultsOf("gateway:\n  tokens: [{ name: a, token: hunter2, rights: [read] }]\n");
    expect(fault).toMatch(/^config.yaml:2: gateway.tokens\[0\].token must be sha256: .*sha256sum/);
    expect(fault).not.toContain("hunter2");
  });

  test("include contents that are no mapping, aliases without end, and a folder in the file's place", () => {
    expect(faultsOf("- a\n")).toEqual(["config.yaml:1: the file must hold settings as `name: value` lines"]);
    const laughs = ["a: &a [x,x,x,x,x,x,x,x,x,x]"];
    for (const [name, last] of ["ba", "cb", "dc", "ed"]) {
      laughs.push(`${name}: &${name} [${Array.from({ length: 10 }, () => `*${last}`).join(",")}]`);
    }
    expect(faultsOf(laughs.join("\n"))[0]).toMatch(/aliases cannot be resolved/);
    rmSync(file);
    mkdirSync(file);
    expect(catchError(() => loadConfig({ home, env: {} })).message).toMatch(/cannot be read/);
  });

  test("of what a program sets are faults too", () => {
    const overrides = { gateway: { port: 99_999 } };
    expect(catchError(() => loadConfig({ home, env: {}, overrides })).message).toBe(
      "A setting is wrong.\n  option: gateway.port must be a whole number from 0 to 65535; got 99999.",
    );
  });

  test("are found also where the environment hides them", () => {
    writeFileSync(file, "gateway: { port: -1 }\n");
    expect(checkConfig(home, { VARVE_GATEWAY_PORT: "80" })).toHaveLength(1);
  });

  test("do not come from names that objects are born with", () => {
    expect(faultsOf("constructor: 1\n__proto__: { x: 1 }\nsession: { identityLinks: { toString: [a] } }\n")).toEqual([
      "config.yaml:1: constructor is not a setting.",
      "config.yaml:2: __proto__ is not a setting.",
    ]);
  });
});

function catchError(work: () => unknown): VarveError {
  try {
    work();
  } catch (error) {
    if (error instanceof VarveError) return error;
    throw error;
  }
  throw new Error("Nothing was thrown.");
}

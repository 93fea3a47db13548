import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { VarveError } from "../domain/index.ts";
import {
  type ConfigInput,
  checkConfig,
  findConfigWarnings,
  findSetting,
  type LoadedConfig,
  loadConfig,
  printFault,
  printSource,
} from "./index.ts";
import { movedSettings } from "./moved-settings.ts";

let home: string;
let file: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "varve-config-"));
  file = join(home, "config.yaml");
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

function getSource(loaded: LoadedConfig, key: string): string {
  return printSource(loaded.sources.get(key) ?? { kind: "default" });
}

/** The faults of a file's text, with its path shortened. */
function checkText(text: string): string[] {
  writeFileSync(file, text);
  return checkConfig(home).map((fault) => printFault(fault).replace(file, "config.yaml"));
}

describe("without any settings", () => {
  test("the defaults apply", () => {
    const loaded = loadConfig({ home, env: {} });
    expect(loaded.config).toMatchObject({
      database: join(home, "varve.db"),
      agent: "main",
      timezone: Intl.DateTimeFormat().resolvedOptions().timeZone,
      redact: { exports: true },
      session: {
        dmScope: "auto",
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

  test("the home folder is ~/.varve, or VARVE_HOME, or the one the caller names", () => {
    expect(loadConfig({ env: { VARVE_HOME: home } }).home).toBe(home);
    expect(loadConfig({ home, env: { VARVE_HOME: "/nowhere" } }).home).toBe(home);
    expect(loadConfig({ env: { VARVE_HOME: "~/.varve-that-is-not-there" } }).home).toBe(
      join(homedir(), ".varve-that-is-not-there"),
    );
  });

  test("an empty file and a file of comments are like no file", () => {
    expect(checkText("")).toEqual([]);
    expect(checkText("# nothing yet\n")).toEqual([]);
    expect(checkText("session:\ngateway:\n  port:\n")).toEqual([]);
    expect(loadConfig({ home, env: {} }).config.gateway.port).toBe(7411);
  });
});

describe("precedence", () => {
  test("is option, environment, file, default, and each value has its source", () => {
    writeFileSync(file, "agent: from-file\ngateway:\n  port: 1\n  host: 0.0.0.0\nlog: { level: debug }\n");
    const loaded = loadConfig({
      home,
      env: { VARVE_GATEWAY_PORT: "2", VARVE_LOG_LEVEL: "warn", PATH: "/bin" },
      overrides: { log: { level: "error" }, gateway: { port: undefined } },
    });
    expect(loaded.config.log.level).toBe("error");
    expect(loaded.config.gateway).toMatchObject({ port: 2, host: "0.0.0.0" });
    expect(loaded.config.agent).toBe("from-file");
    expect(getSource(loaded, "log.level")).toBe("option");
    expect(getSource(loaded, "gateway.port")).toBe("env VARVE_GATEWAY_PORT");
    expect(getSource(loaded, "gateway.host")).toBe(`file ${file}:4`);
    expect(getSource(loaded, "redact.exports")).toBe("default");
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
  test("accepts text, numbers, booleans, lists and mappings", () => {
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
    expect(config.redact.exports).toBe(false);
    expect(config.store.cacheMiB).toBe(16);
    expect(config.session.resetByType.direct).toEqual({ mode: "daily", atHour: 5 });
    expect(config.session.dmScope).toBe("per-peer");
  });

  test("may contain variables that are not settings; an unknown one is a warning with a suggestion", () => {
    const env = { VARVE_TEST_ANYTHING: "1", VARVE_TOKEN: "t", VARVE_URL: "u", VARVE_TRANSCRIPTS: "x" };
    expect(checkConfig(home, env)).toEqual([]);
    expect(findConfigWarnings(home, { VARVE_GATEWAY_PROT: "1" }).map(printFault)).toEqual([
      "VARVE_GATEWAY_PROT: no setting has this variable, so it has no effect. Did you mean VARVE_GATEWAY_PORT?",
    ]);
  });

  test("reports what is wrong with a value", () => {
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

describe("a setting that moved", () => {
  test("is used under its old name, from file, variable or option, with a warning", () => {
    writeFileSync(file, "context:\n  circuitBreakerThreshold: 7\n");
    const loaded = loadConfig({ home, env: { VARVE_CONTEXT_CIRCUIT_BREAKER_COOLDOWN_MS: "1000" } });
    expect(loaded.config.advanced.models).toEqual({ circuitBreakerThreshold: 7, circuitBreakerCooldownMs: 1_000 });
    expect(getSource(loaded, "advanced.models.circuitBreakerThreshold")).toBe(`file ${file}:2`);
    expect(loaded.warnings).toEqual([
      "VARVE_CONTEXT_CIRCUIT_BREAKER_COOLDOWN_MS: context.circuitBreakerCooldownMs has moved. Its value is used; rename it to VARVE_ADVANCED_MODELS_CIRCUIT_BREAKER_COOLDOWN_MS.",
      `${file}:2: context.circuitBreakerThreshold has moved. Its value is used; rename it to advanced.models.circuitBreakerThreshold.`,
    ]);
    const overrides = { context: { circuitBreakerThreshold: 3 } } as ConfigInput;
    expect(loadConfig({ home, env: {}, overrides }).config.advanced.models.circuitBreakerThreshold).toBe(3);
  });

  test("is validated like the new one, and the new one takes precedence in the same file", () => {
    expect(checkText("context:\n  circuitBreakerThreshold: none\n")).toEqual([
      'config.yaml:2: advanced.models.circuitBreakerThreshold must be a whole number, at least 1; got "none".',
    ]);
    writeFileSync(
      file,
      "context: { circuitBreakerThreshold: 7 }\nadvanced: { models: { circuitBreakerThreshold: 8 } }\n",
    );
    const loaded = loadConfig({ home, env: {} });
    expect(loaded.config.advanced.models.circuitBreakerThreshold).toBe(8);
    expect(loaded.warnings.join()).toContain("is ignored, because advanced.models.circuitBreakerThreshold is set too");
  });

  test("is ignored with a warning when it became a constant", () => {
    writeFileSync(file, "search: { followMs: 5 }\n");
    const loaded = loadConfig({ home, env: { VARVE_CONTEXT_COMPACT_UNTIL_UNDER_ROUNDS: "3" } });
    expect(loaded.warnings).toEqual([
      "VARVE_CONTEXT_COMPACT_UNTIL_UNDER_ROUNDS: context.compactUntilUnderRounds has no effect: it is a constant now. Remove it.",
      `${file}:1: search.followMs has no effect: it is a constant now. Remove it.`,
    ]);
  });

  test("leads to a setting that exists", () => {
    for (const { from, to } of movedSettings) {
      expect([from, findSetting(from)]).toEqual([from, undefined]);
      if (to !== undefined) expect(findSetting(to)?.key).toBe(to);
    }
  });
});

describe("a database", () => {
  test("is relative to the home folder in the file, and to the current directory in a variable", () => {
    writeFileSync(file, "database: data/other.db\n");
    expect(loadConfig({ home, env: {} }).config.database).toBe(join(home, "data/other.db"));
    const env = { VARVE_DATABASE: "other.db" };
    expect(loadConfig({ home, env }).config.database).toBe(join(process.cwd(), "other.db"));
    expect(loadConfig({ home, env: { VARVE_DATABASE: "~/x.db" } }).config.database).toBe(join(homedir(), "x.db"));
  });

  test("may be a PostgreSQL URL but no other, and a fault does not reveal its password", () => {
    const url = "postgres://ada:secret@db.example/varve";
    expect(loadConfig({ home, env: {}, overrides: { database: url } }).config.database).toBe(url);
    const [fault] = checkText("database: mysql://ada:secret@db.example/varve\n");
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
    expect(checkText(text).sort()).toEqual([
      "config.yaml:10: gateway.tokens[0].tokn is not known here. Did you mean gateway.tokens[0].token?",
      "config.yaml:11: gateway.tokens[0].rights[1] must be one of read, write, admin; got a value that is not shown.",
      "config.yaml:1: agnt is not a setting. Did you mean agent?",
      "config.yaml:3: session.dmscope is not a setting. Did you mean session.dmScope?",
      'config.yaml:4: session.dmScope must be one of auto, main, per-peer, per-channel-peer, per-account-channel-peer; got "everybody".',
      "config.yaml:6: session.reset.atHour must be a whole number from 0 to 23; got 24.",
      "config.yaml:9: gateway.tokens[0].token is missing: it must be text.",
    ]);
  });

  test("are one error, with a remedy", () => {
    writeFileSync(file, "x: 1\ny: 2\n");
    const error = catchError(() => loadConfig({ home, env: {} }));
    expect(error.code).toBe("BAD_CONFIG");
    expect(error.message).toBe(
      `2 settings are invalid.\n  ${file}:1: x is not a setting.\n  ${file}:2: y is not a setting.`,
    );
    expect(error.remedy).toMatch(/varve config list/);
    expect(error.details?.faults).toHaveLength(2);
  });

  test("name the section a misplaced key belongs to", () => {
    expect(checkText("port: 80\n")).toEqual(["config.yaml:1: port is not a setting. Did you mean gateway.port?"]);
    expect(checkText("gateway:\n  dmScope: main\n")).toEqual([
      "config.yaml:2: gateway.dmScope is not a setting. Did you mean session.dmScope?",
    ]);
  });

  test("of syntax have line and column", () => {
    expect(checkText("agent: main\nsession: [1, 2\nlog: x\n")[0]).toMatch(/^config.yaml:\d+:\d+: invalid YAML: /);
    expect(checkText("agent: a\nagent: b\n")[0]).toMatch(/^config.yaml:2:1: invalid YAML: .*unique/);
    expect(checkText("agent: !secret x\n")[0]).toMatch(/^config.yaml:1:8: invalid YAML: .*tag/);
  });

  test("mention quotes when a number was given for text", () => {
    expect(checkText("agent: 42\n")).toEqual(["config.yaml:1: agent must be text; got 42, which needs quotes."]);
  });

  test("include a plain token, which is not repeated", () => {
    const [fault] = checkText("gateway:\n  tokens: [{ name: a, token: hunter2, rights: [read] }]\n");
    expect(fault).toMatch(/^config.yaml:2: gateway.tokens\[0\].token must be sha256: .*sha256sum/);
    expect(fault).not.toContain("hunter2");
  });

  test("include contents that are not a mapping, endless aliases, and a folder in place of the file", () => {
    expect(checkText("- a\n")).toEqual(["config.yaml:1: the file must contain settings as `name: value` lines"]);
    const laughs = ["a: &a [x,x,x,x,x,x,x,x,x,x]"];
    for (const [name, last] of ["ba", "cb", "dc", "ed"]) {
      laughs.push(`${name}: &${name} [${Array.from({ length: 10 }, () => `*${last}`).join(",")}]`);
    }
    expect(checkText(laughs.join("\n"))[0]).toMatch(/aliases cannot be resolved/);
    rmSync(file);
    mkdirSync(file);
    expect(catchError(() => loadConfig({ home, env: {} })).message).toMatch(/cannot be read/);
  });

  test("are also found in options of the program", () => {
    const overrides = { gateway: { port: 99_999 } };
    expect(catchError(() => loadConfig({ home, env: {}, overrides })).message).toBe(
      "A setting is invalid.\n  option: gateway.port must be a whole number from 0 to 65535; got 99999.",
    );
  });

  test("are also found where the environment overrides them", () => {
    writeFileSync(file, "gateway: { port: -1 }\n");
    expect(checkConfig(home, { VARVE_GATEWAY_PORT: "80" })).toHaveLength(1);
  });

  test("treat names of Object.prototype as unknown", () => {
    expect(checkText("constructor: 1\n__proto__: { x: 1 }\nsession: { identityLinks: { toString: [a] } }\n")).toEqual([
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

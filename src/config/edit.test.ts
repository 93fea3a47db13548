import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { VarveError } from "../domain/index.ts";
import { loadConfig, setConfigValue, unsetConfigValue } from "./index.ts";

let home: string;
let file: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "varve-config-"));
  file = join(home, "config.yaml");
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const read = () => readFileSync(file, "utf8");
const load = () => loadConfig({ home, env: {} }).config;

const commented = `# Our settings.

agent: main # the one and only

# Who talks to whom.
session:
  # Keep people apart.
  dmScope: per-peer # since March
  resetTriggers:
    - /new # begins
    - /reset
`;

describe("setting a value", () => {
  test("creates the file, readable by its owner only, with a header comment", () => {
    const newHome = join(home, "not", "yet");
    setConfigValue(newHome, "gateway.port", "8080");
    const path = join(newHome, "config.yaml");
    expect(readFileSync(path, "utf8")).toMatch(/^# Varve settings\..*\n\ngateway:\n {2}port: 8080\n$/);
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  test("keeps comments and order", () => {
    writeFileSync(file, commented);
    setConfigValue(home, "session.dmScope", "main");
    setConfigValue(home, "agent", "other");
    expect(read()).toBe(commented.replace("per-peer", "main").replace("agent: main", "agent: other"));
    setConfigValue(home, "session.reset.mode", "daily");
    expect(read()).toContain("    - /reset\n  reset:\n    mode: daily\n");
  });

  test("accepts lists, mappings, and paths into mappings", () => {
    setConfigValue(home, "session.resetTriggers", "[/new, /fresh]");
    setConfigValue(home, "session.resetByType.direct.mode", "daily");
    setConfigValue(home, "session.resetByChannel.telegram", '{"mode": "none"}');
    expect(load().session).toMatchObject({
      resetTriggers: ["/new", "/fresh"],
      resetByType: { direct: { mode: "daily" } },
      resetByChannel: { telegram: { mode: "none" } },
    });
  });

  test("fills an empty section, and a file of comments", () => {
    writeFileSync(file, "# only a comment\n");
    setConfigValue(home, "agent", "a");
    expect(read()).toBe("# only a comment\n\nagent: a\n");
    writeFileSync(file, "gateway: # soon\nagent: a\n");
    setConfigValue(home, "gateway.port", "1");
    expect(read()).toMatch(/soon/);
    expect(load().gateway.port).toBe(1);
  });

  test("quotes text that looks like another type", () => {
    setConfigValue(home, "agent", "42");
    setConfigValue(home, "session.mainKey", "null");
    expect(load()).toMatchObject({ agent: "42", session: { mainKey: "null" } });
  });

  test("follows a link instead of replacing it", () => {
    const kept = join(home, "dotfiles.yaml");
    writeFileSync(kept, "agent: a\n");
    symlinkSync(kept, file);
    setConfigValue(home, "agent", "b");
    expect(readFileSync(kept, "utf8")).toBe("agent: b\n");
  });

  test("writes nothing when the result would be invalid", () => {
    writeFileSync(file, commented);
    expect(() => setConfigValue(home, "session.reset.atHour", "25")).toThrow(/from 0 to 23; got 25/);
    expect(() => setConfigValue(home, "session.resetTriggers", "[")).toThrow(VarveError);
    expect(read()).toBe(commented);
    expect(readdirSync(home)).toEqual(["config.yaml"]);
  });

  test("rejects unknown keys and groups, with a suggestion", () => {
    expect(catchRemedy(() => setConfigValue(home, "gateway.prot", "1"))).toBe("Did you mean gateway.port?");
    expect(catchRemedy(() => setConfigValue(home, "dmScope", "main"))).toBe("Did you mean session.dmScope?");
    expect(catchRemedy(() => setConfigValue(home, "session.reset", "daily"))).toMatch(
      /session.reset.mode, session.reset.atHour/,
    );
    expect(catchRemedy(() => setConfigValue(home, "agent.name", "x"))).toBeDefined();
    expect(existsSync(file)).toBe(false);
  });

  test("leaves a broken file alone", () => {
    for (const text of ["agent: [\n", "- a\n", "unknown: 1\n"]) {
      writeFileSync(file, text);
      expect(() => setConfigValue(home, "redact.exports", "false")).toThrow(VarveError);
      expect(read()).toBe(text);
    }
  });
});

describe("a setting that moved", () => {
  test("is set under its new name, and can be unset under its old one", () => {
    writeFileSync(file, "agent: main\ncontext:\n  circuitBreakerThreshold: 7\n");
    expect(unsetConfigValue(home, "context.circuitBreakerThreshold")).toBe(true);
    setConfigValue(home, "context.circuitBreakerThreshold", "9");
    expect(readFileSync(file, "utf8")).toBe("agent: main\nadvanced:\n  models:\n    circuitBreakerThreshold: 9\n");
  });
});

describe("unsetting a value", () => {
  test("restores the default and removes empty sections", () => {
    setConfigValue(home, "session.reset.mode", "daily");
    setConfigValue(home, "agent", "a");
    expect(unsetConfigValue(home, "session.reset.mode")).toBe(true);
    expect(unsetConfigValue(home, "session.reset.mode")).toBe(false);
    expect(read()).not.toContain("session");
    expect(load()).toMatchObject({ agent: "a", session: { reset: { mode: "auto" } } });
  });

  test("changes nothing when there is no file", () => {
    expect(unsetConfigValue(home, "agent")).toBe(false);
    expect(existsSync(file)).toBe(false);
  });
});

test("a value that was set is loaded again, and comments survive", () => {
  const name = fc.string({ unit: "grapheme", minLength: 1, maxLength: 20 }).filter((text) => text !== "__proto__");
  const change = fc.oneof(
    fc.record({ key: fc.constant("gateway.port"), value: fc.integer({ min: 0, max: 65_535 }) }),
    fc.record({ key: fc.constant("redact.exports"), value: fc.boolean() }),
    fc.record({ key: fc.constant("session.dmScope"), value: fc.constantFrom("main", "per-peer") }),
    fc.record({ key: fc.constant("gateway.host"), value: name }),
    fc.record({ key: fc.constant("gateway.allowedHosts"), value: fc.array(name) }),
    fc.record({ key: fc.constant("session.identityLinks"), value: fc.dictionary(name, fc.array(name)) }),
  );
  fc.assert(
    fc.property(fc.array(change, { minLength: 1, maxLength: 6 }), (changes) => {
      writeFileSync(file, commented);
      const last = new Map<string, unknown>();
      for (const { key, value } of changes) {
        setConfigValue(home, key, typeof value === "string" ? value : JSON.stringify(value));
        last.set(key, value);
      }
      const config = load();
      for (const [key, value] of last) {
        const found = key.split(".").reduce<unknown>((tree, step) => Reflect.get(Object(tree), step), config);
        expect(found).toEqual(value);
      }
      for (const comment of commented.match(/#.*/g) ?? []) expect(read()).toContain(comment);
    }),
    { numRuns: 150 },
  );
});

function catchRemedy(work: () => unknown): string | undefined {
  try {
    work();
  } catch (error) {
    return error instanceof VarveError ? error.remedy : undefined;
  }
  return undefined;
}

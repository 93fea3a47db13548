import { expect, test } from "vitest";
import { z } from "zod";
import { listConfig, loadConfig, settings } from "./index.ts";
import { findNearestName } from "./settings.ts";

test("every setting has a description, and a variable of its own", () => {
  for (const { key, description } of settings) expect(description, key).toMatch(/^[A-Z`].*\.$/);
  expect(new Set(settings.map(({ variable }) => variable)).size).toBe(settings.length);
});

test("every default is valid and survives a JSON round trip", () => {
  for (const { key, schema, defaultValue } of settings) {
    expect(schema.parse(defaultValue), key).toEqual(defaultValue);
    if (defaultValue !== undefined) expect(JSON.parse(JSON.stringify(defaultValue)), key).toEqual(defaultValue);
    expect(() => z.toJSONSchema(schema, { io: "input" }), key).not.toThrow();
  }
});

test("variable names are derived from keys", () => {
  const names = Object.fromEntries(settings.map(({ key, variable }) => [key, variable]));
  expect(names).toMatchObject({
    database: "VARVE_DATABASE",
    "session.dmScope": "VARVE_SESSION_DM_SCOPE",
    "session.reset.idleMinutes": "VARVE_SESSION_RESET_IDLE_MINUTES",
    "store.cacheMiB": "VARVE_STORE_CACHE_MIB",
    "gateway.port": "VARVE_GATEWAY_PORT",
  });
});

test("the list shows every setting with its source, and no secret", () => {
  const token = `sha256:${"ab".repeat(32)}`;
  const loaded = loadConfig({
    home: "/nonexistent-varve-home",
    env: { VARVE_DATABASE: "postgres://ada:sesame@db.example/varve?sslpassword=sesame" },
    overrides: {
      gateway: {
        tokens: [
          { name: "a", token, rights: ["read"] },
          { name: "b", token: "env:B_TOKEN", rights: ["admin"] },
        ],
      },
    },
  });
  const rows = listConfig(loaded);
  expect(rows).toHaveLength(settings.length);
  expect(JSON.stringify(rows)).not.toMatch(/sesame|abab/);
  const byKey = new Map(rows.map((row) => [row.key, row]));
  expect(byKey.get("database")).toMatchObject({
    value: "postgres://ada:••••••@db.example/varve?sslpassword=••••••",
    source: "env VARVE_DATABASE",
    default: "varve.db",
    secret: true,
  });
  expect(byKey.get("gateway.tokens")).toMatchObject({
    value: [
      { name: "a", token: "••••••", rights: ["read"] },
      { name: "b", token: "env:B_TOKEN", rights: ["admin"] },
    ],
    source: "option",
    secret: true,
  });
});

test("keys of model providers are masked, references to variables are shown", () => {
  const loaded = loadConfig({
    home: "/nonexistent-varve-home",
    env: { VARVE_MODELS_PROVIDERS: "{anthropic: {apiKey: sesame}}", VARVE_MODELS_SUMMARY: "anthropic/m" },
  });
  const row = listConfig(loaded).find(({ key }) => key === "models.providers");
  expect(row).toMatchObject({ value: { anthropic: { apiKey: "••••••" } }, secret: true });
  expect(loaded.config.models).toMatchObject({
    summary: "anthropic/m",
    providers: { anthropic: { apiKey: "sesame" } },
  });
  const providers = { lab: { apiKey: "env:LAB_KEY", baseUrl: "http://ada:sesame@lab.example/v1" } };
  const shown = listConfig(
    loadConfig({ home: "/nonexistent-varve-home", env: {}, overrides: { models: { providers } } }),
  );
  expect(shown.find(({ key }) => key === "models.providers")?.value).toEqual({
    lab: { apiKey: "env:LAB_KEY", baseUrl: "http://ada:••••••@lab.example/v1" },
  });
});

test("secrets of auth profiles appear neither in the list nor in fault messages", () => {
  const oauth = { tokenUrl: "https://id.example/token", clientId: "varve", refreshToken: "sesame" };
  const auth = {
    plain: { provider: "openai", apiKey: "sesame" },
    named: { provider: "openai", apiKey: "env:WORK_KEY" },
    vault: { provider: "anthropic", command: ["vault", "read", "--password=sesame"], refreshMs: 60_000 },
    words: { provider: "anthropic", command: "vault read sesame" },
    login: { provider: "google", oauth: { ...oauth, clientSecret: "env:SECRET" } },
  };
  const load = (given: object) =>
    loadConfig({ home: "/nonexistent-varve-home", env: { VARVE_MODELS_AUTH: JSON.stringify(given) } });
  const row = listConfig(load(auth)).find(({ key }) => key === "models.auth");
  expect(JSON.stringify(row)).not.toContain("sesame");
  expect(row?.value).toMatchObject({
    named: { provider: "openai", apiKey: "env:WORK_KEY" },
    vault: { command: ["vault", "••••••"], timeoutMs: 15_000 },
    words: { command: ["vault", "••••••"] },
    login: {
      oauth: { tokenUrl: oauth.tokenUrl, clientId: "varve", refreshToken: "••••••", clientSecret: "env:SECRET" },
    },
  });
  const wrong: [object, RegExp][] = [
    [{ a: { provider: "openai" } }, /must have one of apiKey, command and oauth/],
    [{ a: { provider: "openai", apiKey: "sesame", command: "sesame" } }, /must have one of/],
    [{ a: { provider: "openai", command: "echo sesame | tail" } }, /must be a list/],
    [{ a: { provider: "openai", command: 7 } }, /must be text, or a list/],
    [{ a: { provider: "openai", oauth: { ...oauth, tokenUrl: "http://id.example/t" } } }, /https/],
    [{ A: { provider: "openai", apiKey: "sesame" } }, /lower-case/],
  ];
  for (const [given, why] of wrong) {
    expect(() => load(given)).toThrow(why);
    expect(() => load(given)).not.toThrow(/sesame/);
  }
});

test("a name is suggested only when it is similar", () => {
  const names = ["agent", "timezone", "database"];
  expect(findNearestName("agnet", names)).toBe("agent");
  expect(findNearestName("timeZone", names)).toBe("timezone");
  expect(findNearestName("databse", names)).toBe("database");
  expect(findNearestName("colour", names)).toBeUndefined();
  expect(findNearestName("x".repeat(10_000), names)).toBeUndefined();
});

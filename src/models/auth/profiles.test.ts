import { expect, test } from "vitest";
import { loadConfig } from "../../config/index.ts";
import { listChatModels } from "../chat/catalogue.ts";
import { type ProviderSources, resolveAccess } from "../providers.ts";
import { checkProfile } from "./profiles.ts";

const home = "/nonexistent-varve-home";
function sources(models: object, rest: Partial<ProviderSources> = {}): ProviderSources {
  const { config } = loadConfig({ home, env: {}, overrides: { models } });
  const { providers, auth } = config.models;
  return { providers, auth, env: {}, home, ...rest };
}
const auth = {
  first: { provider: "openai", apiKey: "key-1" },
  second: { provider: "openai", apiKey: "env:SECOND" },
  other: { provider: "anthropic", command: [process.execPath, "-p", "'key-3'"], scheme: "bearer" },
};

test("a profile takes precedence over all other keys", async () => {
  const env = { OPENAI_API_KEY: "of-the-environment", SECOND: "key-2" };
  const providers = { openai: { apiKey: "of-the-entry" } };
  expect(resolveAccess("openai", sources({ auth, providers }, { env }))).toMatchObject({
    apiKey: "key-1",
    scheme: "key",
  });
  const named = { openai: { apiKey: "of-the-entry", auth: "second" } };
  expect(resolveAccess("openai", sources({ auth, providers: named }, { env })).apiKey).toBe("key-2");
  expect(() => resolveAccess("openai", sources({ auth, providers: named }))).toThrow(/SECOND, which is not set/);
  const access = resolveAccess("anthropic", sources({ auth }, { env: process.env }));
  expect(access).toMatchObject({ scheme: "bearer" });
  expect(access.apiKey).toBeUndefined();
  expect(await access.tokens?.token()).toBe("key-3");
});

test("the chosen profile comes first, but only for its own provider", () => {
  const env = { SECOND: "key-2", ANTHROPIC_API_KEY: "k" };
  const chosen = sources({ auth: { first: auth.first, second: auth.second } }, { env, profile: "second" });
  expect(resolveAccess("openai", chosen).apiKey).toBe("key-2");
  expect(resolveAccess("anthropic", chosen).apiKey).toBe("k");
});

test("a profile that is missing or belongs to another provider is reported", () => {
  const wrong = (name: string) => sources({ auth, providers: { openai: { auth: name } } });
  expect(() => resolveAccess("openai", wrong("third"))).toThrow(
    expect.objectContaining({ code: "BAD_CONFIG", remedy: "Use one of first, second, other." }),
  );
  expect(() => resolveAccess("openai", wrong("other"))).toThrow(/belongs to anthropic, not to openai/);
  expect(() => checkProfile({}, "toString")).toThrow(/no auth profile toString/);
});

test("the output of a command is shared by all callers with the same settings", async () => {
  const counted = { provider: "anthropic", command: [process.execPath, "-p", "'key-' + process.pid"] };
  const one = sources({ auth: { counted } }, { env: process.env });
  const ask = (from: ProviderSources) => resolveAccess("anthropic", from).tokens?.token();
  expect(await ask({ ...one })).toBe(await ask({ ...one }));
  expect(await ask(sources({ auth: { counted } }, { env: process.env }))).not.toBe(await ask(one));
});

test("a provider with a profile counts as available", () => {
  const { config } = loadConfig({ home, env: {}, overrides: { models: { auth: { a: auth.other as never } } } });
  const { providers, auth: profiles } = config.models;
  expect(listChatModels(config.models, { providers, auth: profiles, env: {}, home })).toEqual([
    "anthropic/claude-sonnet-4-5",
  ]);
});

import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { credentialsPath } from "./credentials-file.ts";
import { type ProviderSources, resolveAccess } from "./providers.ts";
import { loadPackage } from "./sdk.ts";

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "varve-keys-"));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const sources = (rest: Partial<ProviderSources> = {}): ProviderSources => ({
  providers: {},
  auth: {},
  env: {},
  home,
  ...rest,
});

function writeKeys(text: string, mode = 0o600): void {
  writeFileSync(credentialsPath(home), text);
  chmodSync(credentialsPath(home), mode);
}

describe("the key of a provider", () => {
  it("comes from its variable, then from its entry in the settings, then from the file", () => {
    writeKeys("anthropic: from-file\nopenai:\n  apiKey: also-from-file\n");
    const env = { ANTHROPIC_API_KEY: "from-env" };
    const providers = { anthropic: { apiKey: "from-settings" } };
    expect(resolveAccess("anthropic", sources({ providers, env })).apiKey).toBe("from-env");
    expect(resolveAccess("anthropic", sources({ providers })).apiKey).toBe("from-settings");
    expect(resolveAccess("anthropic", sources()).apiKey).toBe("from-file");
    expect(resolveAccess("openai", sources()).apiKey).toBe("also-from-file");
  });

  it("may be read from a variable named in the settings", () => {
    const providers = { openai: { apiKey: "env:MY_KEY" } };
    expect(resolveAccess("openai", sources({ providers, env: { MY_KEY: "k" } })).apiKey).toBe("k");
    expect(() => resolveAccess("openai", sources({ providers }))).toThrow(/MY_KEY, which is not set/);
  });

  it("is found under any name that Google's own tools use, and under the usual name for others", () => {
    expect(resolveAccess("google", sources({ env: { GEMINI_API_KEY: "k" } })).apiKey).toBe("k");
    const providers = { groq: { baseUrl: "https://api.groq.example/v1" } };
    expect(resolveAccess("groq", sources({ providers, env: { GROQ_API_KEY: "k" } }))).toMatchObject({
      kind: "openai-compatible",
      apiKey: "k",
    });
  });

  it("is not sent to a provider of another name with a compatible API", () => {
    const providers = { lab: { kind: "openai" as const, baseUrl: "https://lab.example/v1" } };
    const env = { OPENAI_API_KEY: "not-for-the-lab", OPENAI_BASE_URL: "https://elsewhere.example" };
    expect(() => resolveAccess("lab", sources({ providers, env }))).toThrow(/no key for lab/);
    const known = resolveAccess("lab", sources({ providers, env: { ...env, LAB_API_KEY: "k" } }));
    expect(known).toMatchObject({ apiKey: "k", baseUrl: "https://lab.example/v1" });
  });

  it("is used only with the URL it is configured with, whatever the environment contains", () => {
    const providers = { openai: { apiKey: "of-the-lab", baseUrl: "https://lab.example/v1" } };
    expect(resolveAccess("openai", sources({ providers, env: { OPENAI_API_KEY: "k" } })).apiKey).toBe("of-the-lab");
  });

  it("is reported with what to do when it is missing", () => {
    expect(() => resolveAccess("anthropic", sources())).toThrow(
      expect.objectContaining({ code: "BAD_CONFIG", remedy: expect.stringContaining("ANTHROPIC_API_KEY") }),
    );
  });

  it.skipIf(process.platform === "win32")("is not read from a file that others can read", () => {
    writeKeys("anthropic: secret-key\n", 0o644);
    expect(() => resolveAccess("anthropic", sources())).toThrow(
      expect.objectContaining({ code: "REFUSED", remedy: expect.stringContaining("chmod 600") }),
    );
    expect(resolveAccess("anthropic", sources({ env: { ANTHROPIC_API_KEY: "k" } })).apiKey).toBe("k");
  });

  it.each(["[a, b]", "anthropic: [secret-key]", "anthropic: 'secret-key", "7"])("is never quoted from %s", (text) => {
    writeKeys(text);
    try {
      resolveAccess("anthropic", sources());
      expect.unreachable();
    } catch (error) {
      expect(error).toMatchObject({ code: "BAD_FILE" });
      expect(JSON.stringify(error)).not.toContain("secret-key");
    }
  });
});

describe("the URL of a provider", () => {
  it.each([
    [{}, "http://127.0.0.1:11434/v1"],
    [{ OLLAMA_HOST: "lab:9999" }, "http://lab:9999/v1"],
    [{ OLLAMA_HOST: "0.0.0.0:11434" }, "http://127.0.0.1:11434/v1"],
    [{ OLLAMA_HOST: "https://lab.example/v1/" }, "https://lab.example/v1"],
  ])("of Ollama is derived from %o", (env, baseUrl) => {
    expect(resolveAccess("ollama", sources({ env }))).toEqual({
      provider: "ollama",
      kind: "ollama",
      baseUrl,
      apiKey: undefined,
      scheme: "key",
    });
  });

  it("of Anthropic may come from the variable of its other tools, which has no version", () => {
    const env = { ANTHROPIC_API_KEY: "k", ANTHROPIC_BASE_URL: "https://proxy.example" };
    expect(resolveAccess("anthropic", sources({ env })).baseUrl).toBe("https://proxy.example/v1");
  });

  it("is required", () => {
    expect(() => resolveAccess("openai-compatible", sources())).toThrow(/is not configured/);
    expect(() => resolveAccess("antropic", sources())).toThrow(
      expect.objectContaining({ code: "BAD_CONFIG", remedy: expect.stringContaining("anthropic, openai, google") }),
    );
    expect(() => resolveAccess("toString", sources())).toThrow(/no provider toString/);
  });
});

describe("a package that is not installed", () => {
  it("is named, with how to install it", async () => {
    const missing = Object.assign(new Error("Cannot find package"), { code: "ERR_MODULE_NOT_FOUND" });
    await expect(loadPackage("@ai-sdk/google", () => Promise.reject(missing))).rejects.toMatchObject({
      code: "MISSING_PACKAGE",
      remedy: "Run `npm install ai @ai-sdk/google` where varve is installed.",
    });
    await expect(loadPackage("ai", () => Promise.reject(new Error("other")))).rejects.toThrow("other");
  });
});

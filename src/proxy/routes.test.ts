import { describe, expect, it } from "vitest";
import { resolveRoute } from "./routes.ts";

describe("a request's way to its provider", () => {
  it.each([
    [
      "anthropic",
      "/v1/messages?beta=true",
      "https://a.example",
      "https://a.example/v1/messages?beta=true",
      "anthropic",
    ],
    ["anthropic", "/v1/messages", "https://a.example/v1/", "https://a.example/v1/messages", "anthropic"],
    ["anthropic", "/v1/models", "https://a.example", "https://a.example/v1/models", undefined],
    ["openai", "/v1/chat/completions", "https://o.example/v1", "https://o.example/v1/chat/completions", "openai-chat"],
    ["openai", "/chat/completions", "https://o.example/v1", "https://o.example/v1/chat/completions", "openai-chat"],
    ["openai", "/v1/responses", "http://127.0.0.1:9/api/v1", "http://127.0.0.1:9/api/v1/responses", "openai-responses"],
    ["openai", "/v1/embeddings", "https://o.example/v1", "https://o.example/v1/embeddings", undefined],
  ] as const)("%s %s behind %s", (provider, path, base, url, format) => {
    const route = resolveRoute(provider, "POST", path, base);
    expect(route.url.href).toBe(url);
    expect(route.format?.id).toBe(format);
  });

  it.each([
    "63/v1/messages",
    "@evil.example/v1/messages",
    ":80@evil.example/",
    "/..%2f..%2fadmin",
    "/%2e%2e/admin",
    "/%252e%252e%252fadmin",
    "/v1/..\\\\evil.example",
    "/v1/%5cevil.example",
    "/v1/%",
  ])("never leads elsewhere: %s", (path) => {
    expect(() => resolveRoute("anthropic", "POST", path, "https://a.example/base")).toThrow(/is not forwarded/);
  });

  it.each(["//evil.example/v1/messages", "/@evil.example/v1", "/https://evil.example", "/v1/models/org%2Fmodel"])(
    "stays at the configured address: %s",
    (path) => {
      const { url } = resolveRoute("openai", "GET", path, "https://o.example/base/v1");
      expect(url.origin).toBe("https://o.example");
      expect(url.pathname).toMatch(/^\/base\/v1\//);
    },
  );

  it.each([
    ["anthropic", "POST", "/v1/messages", true],
    ["anthropic", "POST", "/v1/messages/count_tokens", true],
    ["anthropic", "GET", "/v1/models", true],
    ["anthropic", "GET", "/v1/models/claude-x", true],
    ["anthropic", "POST", "/v1/messages/batches", false],
    ["anthropic", "GET", "/v1/files", false],
    ["anthropic", "GET", "/v1/organizations/api_keys", false],
    ["openai", "POST", "/v1/responses", true],
    ["openai", "POST", "/v1/embeddings", true],
    ["openai", "GET", "/v1/responses/resp_1", false],
    ["openai", "DELETE", "/v1/models/ft-1", false],
    ["openai", "POST", "/v1/files", false],
    ["openai", "GET", "/v1/organization/admin_api_keys", false],
  ] as const)("%s %s %s uses models only: %s", (provider, method, path, usesModels) => {
    expect(resolveRoute(provider, method, path, "https://a.example/v1").usesModels).toBe(usesModels);
  });

  it("is not looked into when nothing is asked of a model", () => {
    expect(resolveRoute("openai", "GET", "/v1/responses", "https://o.example/v1").format).toBeUndefined();
    expect(resolveRoute("anthropic", "POST", "/v1/messages/count_tokens", "https://a.example").isCount).toBe(true);
  });
});

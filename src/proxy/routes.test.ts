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

  it("is not looked into when nothing is asked of a model", () => {
    expect(resolveRoute("openai", "GET", "/v1/responses", "https://o.example/v1").format).toBeUndefined();
    expect(resolveRoute("anthropic", "POST", "/v1/messages/count_tokens", "https://a.example").isCount).toBe(true);
  });
});

import { LLMock } from "@copilotkit/aimock";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadConfig } from "../config/index.ts";
import { listModelNames, openConfiguredModel } from "./configured.ts";
import type { GenerateRequest } from "./generate.ts";

const mock = new LLMock({ port: 0 });
let url: string;
beforeAll(async () => {
  mock.onMessage(/harbour/, {
    content: "The crew checked the harbour.",
    usage: { input_tokens: 12, output_tokens: 6 },
  });
  url = await mock.start();
});
afterAll(() => mock.stop());

const home = "/nonexistent-varve-home";
const request: GenerateRequest = {
  purpose: "summary",
  system: "Summarise what you are given.",
  user: "A day at the harbour.",
  temperature: 0.2,
  maxTokens: 300,
};

function settings(summary: string, summaryFallbacks: string[] = []) {
  const keyed = { apiKey: "test-key" };
  return loadConfig({
    home,
    env: {},
    overrides: {
      models: {
        summary,
        summaryFallbacks,
        providers: {
          anthropic: { ...keyed, baseUrl: `${url}/v1` },
          openai: { ...keyed, baseUrl: `${url}/v1` },
          google: { ...keyed, baseUrl: `${url}/v1beta` },
          ollama: { baseUrl: `${url}/v1` },
          lab: { baseUrl: `${url}/v1/` },
        },
      },
    },
  }).config.models;
}

describe("a model", () => {
  it.each([
    ["anthropic/claude-haiku-4-5", "/v1/messages"],
    ["openai/gpt-4o-mini", "/v1/chat/completions"],
    ["google/gemini-2.5-flash", "/v1beta/models/gemini-2.5-flash:streamGenerateContent"],
    ["ollama/llama3.2", "/v1/chat/completions"],
    ["lab/some/model:tag", "/v1/chat/completions"],
  ])("answers in its provider's wire format: %s", async (name, path) => {
    const generate = openConfiguredModel(settings(name), "summary", { home, env: {} });
    const answer = await generate?.(request);
    expect(answer).toMatchObject({ text: "The crew checked the harbour.", model: name });
    expect(answer?.usage?.outputTokens).toBeGreaterThan(0);
    const sent = mock.getRequests().at(-1);
    expect(sent?.path.split("?")[0]).toBe(path);
    expect(JSON.stringify(sent?.body)).toContain("Summarise what you are given.");
  });

  it("returns the warnings of its provider instead of printing them", async () => {
    const warned: unknown[] = [];
    const listen = (warning: unknown) => void warned.push(warning);
    process.on("warning", listen);
    const generate = openConfiguredModel(settings("openai/o3-mini"), "summary", { home, env: {} });
    const answer = await generate?.(request);
    await new Promise((resolve) => setImmediate(resolve));
    process.off("warning", listen);
    expect(answer?.notes?.[0]).toMatch(/temperature/);
    expect(warned).toEqual([]);
  });

  it("is followed by its fallbacks", async () => {
    mock.nextRequestError(404, { message: "model: claude-9 not found", type: "not_found_error" });
    const models = settings("anthropic/claude-9", ["openai/gpt-4o-mini", "anthropic/claude-9"]);
    expect(listModelNames(models, "summary")).toEqual(["anthropic/claude-9", "openai/gpt-4o-mini"]);
    const generate = openConfiguredModel(models, "summary", { home, env: {} });
    expect(await generate?.(request)).toMatchObject({ model: "openai/gpt-4o-mini" });
  });

  it("does not exist when the settings name none", () => {
    const models = loadConfig({ home, env: {} }).config.models;
    expect(openConfiguredModel(models, "expansion", { home, env: {} })).toBeUndefined();
  });

  it("reports what is missing when it is called, not before", async () => {
    const models = loadConfig({ home, env: {}, overrides: { models: { largeFile: "openai/gpt-4o-mini" } } }).config
      .models;
    const generate = openConfiguredModel(models, "largeFile", { home, env: {} });
    await expect(generate?.({ ...request, purpose: "largeFile" })).rejects.toMatchObject({ code: "BAD_CONFIG" });
  });
});

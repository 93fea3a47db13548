import { describe, expect, it } from "vitest";
import { VarveError } from "../domain/index.ts";
import { type ChainOptions, createChain } from "./chain.ts";
import { isKeyRefused } from "./chain-error.ts";
import type { GeneratedText, GenerateRequest, NamedModel } from "./generate.ts";
import { createInMemoryLedger } from "./model-state.ts";

const request: GenerateRequest = { purpose: "summary", system: "s", user: "u", temperature: 0, maxTokens: 100 };
const fine: GeneratedText = { text: "Fine.", usage: { inputTokens: 11, outputTokens: 3 } };

function http(statusCode: number, responseHeaders: Record<string, string> = {}, responseBody = ""): Error {
  return Object.assign(new Error(`Status ${statusCode}`), { statusCode, responseHeaders, responseBody });
}

/** A model that performs these actions in turn, repeating the last one. */
function model(name: string, ...acts: (GeneratedText | Error | "never")[]): NamedModel & { asked: GenerateRequest[] } {
  const asked: GenerateRequest[] = [];
  return {
    name,
    asked,
    call: async (one) => {
      asked.push(one);
      const act = acts[Math.min(asked.length, acts.length) - 1];
      if (act === "never") return new Promise(() => undefined);
      if (act instanceof Error) throw act;
      return act as GeneratedText;
    },
  };
}

/** Options of a chain, with a clock that only sleeping advances. */
function stage(limits: ChainOptions["limits"] = {}) {
  let now = 1_000_000;
  const slept: number[] = [];
  const ledger = createInMemoryLedger();
  const options: ChainOptions = {
    purpose: "summary",
    ledger,
    clock: { now: () => now },
    random: { bytes: (count) => new Uint8Array(count).fill(255) },
    sleep: async (ms) => {
      slept.push(ms);
      now += ms;
    },
    limits,
  };
  return { options, slept, ledger, pass: (ms: number) => (now += ms) };
}

describe("a chain of models", () => {
  it("answers with the first model, and records it", async () => {
    const { options, ledger } = stage();
    const first = model("a/one", fine);
    expect(await createChain([first], options)(request)).toEqual({ ...fine, model: "a/one", notes: [] });
    expect(await ledger.read("summary a/one")).toMatchObject({
      calls: 1,
      failures: 0,
      inputTokens: 11,
      outputTokens: 3,
    });
    expect(await ledger.read("summary")).toMatchObject({ calls: 1, windowCalls: 1 });
  });

  it("retries a temporary failure, waiting twice as long each time", async () => {
    const { options, slept } = stage();
    const first = model("a/one", http(500), http(503), fine);
    const answer = await createChain([first], options)(request);
    expect(answer).toMatchObject({ text: "Fine.", notes: [expect.stringContaining("HTTP 500"), expect.anything()] });
    expect(slept).toEqual([500, 1_000]);
  });

  it("spreads the waits randomly, down to half", async () => {
    const { options, slept } = stage();
    const random = { bytes: (count: number) => new Uint8Array(count) };
    await createChain([model("a/one", http(500), fine)], { ...options, random })(request);
    expect(slept).toEqual([250]);
  });

  it("gives a model up after three attempts and continues with the next", async () => {
    const { options } = stage();
    const [first, second] = [model("a/one", http(500)), model("b/two", fine)];
    expect(await createChain([first, second], options)(request)).toMatchObject({ text: "Fine.", model: "b/two" });
    expect(first.asked).toHaveLength(3);
  });

  it("waits as long as requested, up to a limit, and notes when that is shorter", async () => {
    const { options, slept } = stage();
    await createChain([model("a/one", http(429, { "retry-after": "7" }), fine)], options)(request);
    expect(slept).toEqual([7_000]);
    const hours = model("a/one", http(429, { "retry-after": "7200" }), fine);
    const { notes } = await createChain([hours], options)(request);
    expect(slept).toEqual([7_000, 30_000]);
    expect(notes).toContain("It asked to wait 7200 s; the limit is 30 s.");
  });

  it.each([
    ["an unknown model", http(404)],
    ["a prompt that is too long", http(400, {}, "prompt is too long")],
    ["an unsupported parameter", http(400, {}, "Unsupported parameter: temperature")],
  ])("continues with the next model immediately after %s", async (_, error) => {
    const { options, slept } = stage();
    const [first, second] = [model("a/one", error), model("b/two", fine)];
    expect(await createChain([first, second], options)(request)).toMatchObject({ model: "b/two" });
    expect(first.asked).toHaveLength(1);
    expect(slept).toEqual([]);
  });

  it("reports that the prompt was too long", async () => {
    const { options } = stage();
    const failing = createChain([model("a/one", http(400, {}, "prompt is too long"))], options)(request);
    await expect(failing).rejects.toMatchObject({ code: "MODEL_FAILED", details: { overflow: true } });
  });

  it("never retries a rejected key, and pauses the model after five of them", async () => {
    const { options, ledger, pass } = stage();
    const first = model("a/one", http(401));
    const generate = createChain([first], options);
    for (let index = 0; index < 5; index += 1) {
      await expect(generate(request)).rejects.toSatisfy(isKeyRefused);
    }
    expect(first.asked).toHaveLength(5);
    expect(await ledger.read("summary a/one")).toMatchObject({ authFailures: 5, lastError: "HTTP 401: Status 401" });
    await expect(generate(request)).rejects.toMatchObject({ code: "MODEL_PAUSED", details: { because: "auth" } });
    expect(isKeyRefused(await generate(request).catch((error: unknown) => error))).toBe(false);
    expect(first.asked).toHaveLength(5);
    pass(1_800_000);
    await expect(generate(request)).rejects.toMatchObject({ code: "MODEL_KEY_REFUSED" });
    await expect(generate(request)).rejects.toMatchObject({ code: "MODEL_PAUSED" });
  });

  it("pauses when the calls of its window are used up, whichever models they went to, and says until when", async () => {
    const { options, pass } = stage({ windowCallsMax: 4 });
    const [first, second] = [model("a/one", http(500)), model("b/two", fine)];
    const generate = createChain([first, second], options);
    await generate(request);
    await expect(generate(request)).rejects.toMatchObject({ code: "MODEL_PAUSED", details: { because: "spend" } });
    expect(first.asked.length + second.asked.length).toBe(4);
    pass(1_800_000);
    await expect(generate(request)).resolves.toMatchObject({ model: "b/two" });
  });

  it("shares its budget with other chains of the same ledger", async () => {
    const { options } = stage({ windowCallsMax: 3 });
    const chains = [createChain([model("a/one", fine)], options), createChain([model("a/one", fine)], options)];
    const asked = Array.from({ length: 6 }, (_, index) => chains[index % 2]!(request));
    const done = await Promise.allSettled(asked);
    expect(done.filter(({ status }) => status === "fulfilled")).toHaveLength(3);
  });

  it("passes on the timeout of a model that never answers, and does not call another", async () => {
    const { options, ledger } = stage({ timeoutMs: 5 });
    const second = model("b/two", fine);
    const failing = createChain([model("a/one", "never"), second], options)(request);
    await expect(failing).rejects.toMatchObject({ code: "MODEL_TIMEOUT" });
    expect(second.asked).toHaveLength(0);
    expect(await ledger.read("summary a/one")).toMatchObject({ failures: 1 });
  });

  it("passes on an abort: before, during a call, and during a wait", async () => {
    const { options, ledger } = stage();
    const before = createChain([model("a/one", fine)], options)({ ...request, signal: AbortSignal.abort() });
    await expect(before).rejects.toMatchObject({ code: "ABORTED" });
    const calling = new AbortController();
    const during = createChain([model("a/one", "never")], options)({ ...request, signal: calling.signal });
    calling.abort();
    await expect(during).rejects.toMatchObject({ code: "ABORTED" });
    expect(await ledger.read("summary a/one")).toMatchObject({ failures: 0 });
    const waiting = new AbortController();
    const sleep: ChainOptions["sleep"] = async () => {
      waiting.abort();
      throw new DOMException("stopped", "AbortError");
    };
    const late = createChain([model("a/one", http(500))], { ...options, sleep })({
      ...request,
      signal: waiting.signal,
    });
    await expect(late).rejects.toMatchObject({ code: "ABORTED" });
  });

  it("reports what has to be set up when nothing is", async () => {
    const { options } = stage();
    const missing = new VarveError("MISSING_PACKAGE", "No package.", { remedy: "npm install it" });
    await expect(createChain([model("a/one", missing)], options)(request)).rejects.toBe(missing);
    await expect(createChain([], options)(request)).rejects.toMatchObject({ code: "BAD_CONFIG" });
    const answer = await createChain([model("a/one", missing), model("b/two", fine)], options)(request);
    expect(answer).toMatchObject({ model: "b/two", notes: ["a/one failed: No package."] });
  });
});

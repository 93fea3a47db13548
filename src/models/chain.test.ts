import { describe, expect, it } from "vitest";
import { VarveError } from "../domain/index.ts";
import { type ChainOptions, chain } from "./chain.ts";
import { isKeyRefused } from "./chain-error.ts";
import type { Generated, GenerateRequest, NamedModel } from "./generate.ts";
import { inMemoryLedger } from "./ledger.ts";

const request: GenerateRequest = { purpose: "summary", system: "s", user: "u", temperature: 0, maxTokens: 100 };
const fine: Generated = { text: "Fine.", usage: { inputTokens: 11, outputTokens: 3 } };

function http(statusCode: number, responseHeaders: Record<string, string> = {}, responseBody = ""): Error {
  return Object.assign(new Error(`Status ${statusCode}`), { statusCode, responseHeaders, responseBody });
}

/** A model that does these things in turn, the last one for ever. */
function model(name: string, ...acts: (Generated | Error | "never")[]): NamedModel & { asked: GenerateRequest[] } {
  const asked: GenerateRequest[] = [];
  return {
    name,
    asked,
    call: async (one) => {
      asked.push(one);
      const act = acts[Math.min(asked.length, acts.length) - 1];
      if (act === "never") return new Promise(() => undefined);
      if (act instanceof Error) throw act;
      return act as Generated;
    },
  };
}

/** The parts a chain is given, with a clock that only sleeping moves. */
function stage(limits: ChainOptions["limits"] = {}) {
  let now = 1_000_000;
  const slept: number[] = [];
  const ledger = inMemoryLedger();
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
  it("answers with the first, and keeps count", async () => {
    const { options, ledger } = stage();
    const first = model("a/one", fine);
    expect(await chain([first], options)(request)).toEqual({ ...fine, model: "a/one", notes: [] });
    expect(await ledger.read("summary a/one")).toMatchObject({
      calls: 1,
      failures: 0,
      inputTokens: 11,
      outputTokens: 3,
    });
    expect(await ledger.read("summary")).toMatchObject({ calls: 1, windowCalls: 1 });
  });

  it("asks again after a failure that may pass, waiting twice as long each time", async () => {
    const { options, slept } = stage();
    const first = model("a/one", http(500), http(503), fine);
    const answer = await chain([first], options)(request);
    expect(answer).toMatchObject({ text: "Fine.", notes: [expect.stringContaining("HTTP 500"), expect.anything()] });
    expect(slept).toEqual([500, 1_000]);
  });

  it("spreads the waits by chance, down to half", async () => {
    const { options, slept } = stage();
    const random = { bytes: (count: number) => new Uint8Array(count) };
    await chain([model("a/one", http(500), fine)], { ...options, random })(request);
    expect(slept).toEqual([250]);
  });

  it("gives a model up after three attempts and goes on with the next", async () => {
    const { options } = stage();
    const [first, second] = [model("a/one", http(500)), model("b/two", fine)];
    expect(await chain([first, second], options)(request)).toMatchObject({ text: "Fine.", model: "b/two" });
    expect(first.asked).toHaveLength(3);
  });

  it("waits as long as it is told, up to a bound, and says so when that is shorter", async () => {
    const { options, slept } = stage();
    await chain([model("a/one", http(429, { "retry-after": "7" }), fine)], options)(request);
    expect(slept).toEqual([7_000]);
    const hours = model("a/one", http(429, { "retry-after": "7200" }), fine);
    const { notes } = await chain([hours], options)(request);
    expect(slept).toEqual([7_000, 30_000]);
    expect(notes).toContain("It asked for 7200 s of patience and got 30 s, the most there is.");
  });

  it.each([
    ["an unknown model", http(404)],
    ["a prompt that is too long", http(400, {}, "prompt is too long")],
    ["an unsupported parameter", http(400, {}, "Unsupported parameter: temperature")],
  ])("goes on with the next at once after %s", async (_, error) => {
    const { options, slept } = stage();
    const [first, second] = [model("a/one", error), model("b/two", fine)];
    expect(await chain([first, second], options)(request)).toMatchObject({ model: "b/two" });
    expect(first.asked).toHaveLength(1);
    expect(slept).toEqual([]);
  });

  it("says that a prompt was too long when that was it", async () => {
    const { options } = stage();
    const failing = chain([model("a/one", http(400, {}, "prompt is too long"))], options)(request);
    await expect(failing).rejects.toMatchObject({ code: "MODEL_FAILED", details: { overflow: true } });
  });

  it("never repeats a refused key, and leaves the model alone after five of them", async () => {
    const { options, ledger, pass } = stage();
    const first = model("a/one", http(401));
    const generate = chain([first], options);
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

  it("pauses when the calls of its window are spent, whichever models they went to, and says until when", async () => {
    const { options, pass } = stage({ windowCallsMax: 4 });
    const [first, second] = [model("a/one", http(500)), model("b/two", fine)];
    const generate = chain([first, second], options);
    await generate(request);
    await expect(generate(request)).rejects.toMatchObject({ code: "MODEL_PAUSED", details: { because: "spend" } });
    expect(first.asked.length + second.asked.length).toBe(4);
    pass(1_800_000);
    await expect(generate(request)).resolves.toMatchObject({ model: "b/two" });
  });

  it("shares its budget with other chains of the same ledger", async () => {
    const { options } = stage({ windowCallsMax: 3 });
    const chains = [chain([model("a/one", fine)], options), chain([model("a/one", fine)], options)];
    const asked = Array.from({ length: 6 }, (_, index) => chains[index % 2]!(request));
    const done = await Promise.allSettled(asked);
    expect(done.filter(({ status }) => status === "fulfilled")).toHaveLength(3);
  });

  it("passes on a timeout of a model that never answers, and does not ask another", async () => {
    const { options, ledger } = stage({ timeoutMs: 5 });
    const second = model("b/two", fine);
    const failing = chain([model("a/one", "never"), second], options)(request);
    await expect(failing).rejects.toMatchObject({ code: "MODEL_TIMEOUT" });
    expect(second.asked).toHaveLength(0);
    expect(await ledger.read("summary a/one")).toMatchObject({ failures: 1 });
  });

  it("passes on an abort: before, during a call, and during a wait", async () => {
    const { options, ledger } = stage();
    const before = chain([model("a/one", fine)], options)({ ...request, signal: AbortSignal.abort() });
    await expect(before).rejects.toMatchObject({ code: "ABORTED" });
    const calling = new AbortController();
    const during = chain([model("a/one", "never")], options)({ ...request, signal: calling.signal });
    calling.abort();
    await expect(during).rejects.toMatchObject({ code: "ABORTED" });
    expect(await ledger.read("summary a/one")).toMatchObject({ failures: 0 });
    const waiting = new AbortController();
    const sleep: ChainOptions["sleep"] = async () => {
      waiting.abort();
      throw new DOMException("stopped", "AbortError");
    };
    const late = chain([model("a/one", http(500))], { ...options, sleep })({ ...request, signal: waiting.signal });
    await expect(late).rejects.toMatchObject({ code: "ABORTED" });
  });

  it("names what has to be set up when nothing is", async () => {
    const { options } = stage();
    const missing = new VarveError("MISSING_PACKAGE", "No package.", { remedy: "npm install it" });
    await expect(chain([model("a/one", missing)], options)(request)).rejects.toBe(missing);
    await expect(chain([], options)(request)).rejects.toMatchObject({ code: "BAD_CONFIG" });
    const answer = await chain([model("a/one", missing), model("b/two", fine)], options)(request);
    expect(answer).toMatchObject({ model: "b/two", notes: ["a/one failed: No package."] });
  });
});

import { describe, expect, it } from "vitest";
import { VarveError } from "../domain/index.ts";
import { type ChainOptions, createChain } from "./chain.ts";
import type { GenerateRequest, NamedModel } from "./generate.ts";
import { createInMemoryLedger } from "./model-state.ts";

const request: GenerateRequest = { purpose: "summary", system: "s", user: "u", temperature: 0, maxTokens: 100 };
const timeZone = "America/New_York";

function stage(start: string, limits: ChainOptions["limits"] = {}) {
  const state = { now: Date.parse(start) };
  const ledger = createInMemoryLedger();
  const options = { purpose: "summary" as const, ledger, clock: { now: () => state.now }, limits };
  const model = (callsMax: number, fail?: Error): NamedModel & { calls: number } => ({
    name: "claude-cli/haiku",
    calls: 0,
    dailyCap: { name: "claude-cli", callsMax, timeZone },
    async call() {
      this.calls += 1;
      if (fail) throw fail;
      return { text: "Fine." };
    },
  });
  return { state, ledger, options, model };
}

const other: NamedModel = { name: "b/two", call: async () => ({ text: "Other." }) };

describe("a cap a day", () => {
  it("counts calls by the days of a time zone, for all purposes together", async () => {
    const { state, ledger, options, model } = stage("2026-01-15T12:00:00Z");
    const capped = model(2);
    await createChain([capped], options)(request);
    await createChain([capped], { ...options, purpose: "memory" })({ ...request, purpose: "memory" });
    const chain = createChain([capped, other], options);
    expect(await chain(request)).toMatchObject({
      model: "b/two",
      notes: [expect.stringMatching(/claude-cli\/haiku was not called: the 2 calls a day are used up/)],
    });
    expect(capped.calls).toBe(2);
    // Midnight in New York.
    const pausedUntil = Date.parse("2026-01-16T05:00:00Z");
    expect(await ledger.read("claude-cli")).toMatchObject({ calls: 2, windowCalls: 2, pausedUntil });
    state.now = pausedUntil - 1;
    expect(await chain(request)).toMatchObject({ model: "b/two" });
    state.now = pausedUntil;
    expect(await chain(request)).toMatchObject({ model: "claude-cli/haiku", notes: [] });
    expect(await ledger.read("claude-cli")).toMatchObject({ windowCalls: 1, pausedUntil: 0 });
  });

  it("ends at midnight also when the clocks change", async () => {
    for (const [now, midnight] of [
      ["2026-03-08T06:00:00Z", "2026-03-09T04:00:00Z"],
      ["2026-11-01T06:00:00Z", "2026-11-02T05:00:00Z"],
    ] as const) {
      const { options, ledger, model } = stage(now);
      await createChain([model(0), other], options)(request);
      expect(new Date((await ledger.read("claude-cli")).pausedUntil).toISOString()).toBe(
        new Date(midnight).toISOString(),
      );
    }
  });

  it("without another model fails in a way that lets the built-in one take over", async () => {
    const { options, model } = stage("2026-01-15T12:00:00Z");
    await expect(createChain([model(0)], options)(request)).rejects.toMatchObject({
      code: "MODEL_FAILED",
      message: expect.stringContaining("the 0 calls a day are used up"),
    });
  });

  it("that is raised takes effect at once", async () => {
    const { options, model } = stage("2026-01-15T12:00:00Z");
    await createChain([model(1)], options)(request);
    await createChain([model(1), other], options)(request);
    expect(await createChain([model(2), other], options)(request)).toMatchObject({ model: "claude-cli/haiku" });
  });

  it("does not count calls that the budget of the purpose refuses", async () => {
    const { options, ledger, model } = stage("2026-01-15T12:00:00Z", { windowCallsMax: 1 });
    const chain = createChain([model(50)], options);
    await chain(request);
    for (let attempt = 0; attempt < 3; attempt += 1) {
      await expect(chain(request)).rejects.toMatchObject({ code: "MODEL_PAUSED", details: { because: "spend" } });
    }
    // Only the call that found the window full was counted.
    expect(await ledger.read("claude-cli")).toMatchObject({ windowCalls: 2 });
  });
});

describe("an account at its limit", () => {
  const limit = (until?: number) =>
    new VarveError("MODEL_PAUSED", "The usage limit of Claude Code is reached.", {
      details: { because: "limit", ...(until === undefined ? {} : { until }) },
    });

  it("is not called until the limit ends, and another model answers", async () => {
    const { state, options, model } = stage("2026-01-15T12:00:00Z");
    const until = state.now + 5 * 3_600_000;
    const limited = model(50, limit(until));
    expect(await createChain([limited, other], options)(request)).toMatchObject({ model: "b/two" });
    await createChain([limited, other], options)(request);
    expect(limited.calls).toBe(1);
    const alone = createChain([limited], options);
    await expect(alone(request)).rejects.toMatchObject({ code: "MODEL_PAUSED", details: { because: "limit", until } });
    state.now = until;
    await expect(alone(request)).rejects.toMatchObject({ code: "MODEL_PAUSED", details: { because: "limit" } });
    expect(limited.calls).toBe(2);
  });

  it("that does not say when it ends is tried again after half an hour", async () => {
    const { state, options, model } = stage("2026-01-15T12:00:00Z");
    const limited = model(50, limit());
    const chain = createChain([limited], options);
    const until = state.now + 1_800_000;
    await expect(chain(request)).rejects.toMatchObject({ code: "MODEL_PAUSED", details: { until } });
    state.now = until;
    await expect(chain(request)).rejects.toMatchObject({ code: "MODEL_PAUSED" });
    expect(limited.calls).toBe(2);
  });
});

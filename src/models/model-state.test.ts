import { describe, expect, it } from "vitest";
import {
  admitCall,
  createInMemoryLedger,
  initialModelState,
  isPaused,
  defaultChainLimits as limits,
  type ModelState,
  recordAnswer,
  recordFailure,
} from "./model-state.ts";

const minute = 60_000;

function admitMany(count: number, now: number, from: ModelState = initialModelState): ModelState {
  let state = from;
  for (let index = 0; index < count; index += 1) state = admitCall(state, now, limits);
  return state;
}

describe("the call budget", () => {
  it("allows 24 calls in ten minutes, and then pauses for thirty", () => {
    const now = 1_000 * minute;
    const full = admitMany(24, now);
    expect(full).toMatchObject({ calls: 24, windowCalls: 24, pausedUntil: 0 });
    const paused = admitCall(full, now + 9 * minute, limits);
    expect(paused).toMatchObject({ calls: 24, pausedUntil: now + 39 * minute });
    expect(paused.pausedBecause).toBe("24 calls were made within 10 minutes");
    expect(admitCall(paused, now + 38 * minute, limits)).toEqual(paused);
    const after = admitCall(paused, now + 39 * minute, limits);
    expect(after).toMatchObject({ calls: 25, windowCalls: 1, windowStartedAt: now + 39 * minute, pausedUntil: 0 });
    expect(after.pausedBecause).toBeUndefined();
  });

  it("begins a new window when the old one is over, or when the clock was set back", () => {
    const now = 1_000 * minute;
    const full = admitMany(24, now);
    expect(admitCall(full, now + 10 * minute, limits)).toMatchObject({ windowCalls: 1 });
    expect(admitCall(full, now - minute, limits)).toMatchObject({ windowCalls: 1, windowStartedAt: now - minute });
  });
});

describe("the circuit breaker", () => {
  const refused = { isAuth: true, message: "401" };

  it("opens after five consecutive rejections, and again after one more", () => {
    let state: ModelState = initialModelState;
    for (let index = 0; index < 4; index += 1) state = recordFailure(state, index, refused, limits);
    expect(isPaused(state, 4)).toBe(false);
    state = recordFailure(state, 4, refused, limits);
    expect(state).toMatchObject({ calls: 5, failures: 5, authFailures: 5, pausedUntil: 4 + 30 * minute });
    expect(isPaused(state, 4 + 30 * minute)).toBe(false);
    const again = recordFailure(state, 40 * minute, refused, limits);
    expect(again).toMatchObject({ authFailures: 6, pausedUntil: 70 * minute });
  });

  it("is closed by an answer, and ignores other failures", () => {
    const state = recordFailure(initialModelState, 1, refused, limits);
    expect(recordFailure(state, 2, { isAuth: false, message: "500" }, limits)).toMatchObject({ authFailures: 1 });
    const well = recordAnswer(state, 3, { inputTokens: 5, outputTokens: 7 });
    expect(well).toMatchObject({ authFailures: 0, inputTokens: 5, outputTokens: 7, lastOkAt: 3, lastError: "401" });
  });
});

describe("the in-memory ledger", () => {
  it("returns copies, so that callers cannot modify it", async () => {
    const ledger = createInMemoryLedger();
    const state = await ledger.update("summary", (before) => ({ ...before, calls: 3 }));
    state.calls = 99;
    expect(await ledger.read("summary")).toMatchObject({ calls: 3 });
    expect(await ledger.read("other")).toEqual(initialModelState);
  });
});

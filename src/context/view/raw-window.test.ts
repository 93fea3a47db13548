import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { MessageGroup } from "./message-groups.ts";
import { chooseWindow, findOwnRequest } from "./raw-window.ts";

const group = (tokens: number, seq: number, isRequest = seq % 4 === 0): MessageGroup => ({
  messages: [{ seq, time: seq, message: { role: "user", content: "" }, tokens, isRequest, isCut: false, notes: [] }],
  tokens,
  storedTokens: tokens,
});
const toGroups = (sizes: readonly number[]) => sizes.map((size, index) => group(size, index));
const options = { tokens: 1_000, stepTokens: 150, tokensBefore: 0, isComplete: true, overheadTokens: () => 60 };
const sum = (sizes: readonly number[]) => sizes.reduce((total, size) => total + size, 0);

describe("the window of raw messages", () => {
  it("is everything when everything fits", () => {
    expect(chooseWindow(toGroups([300, 300, 400]), options)).toEqual({ from: 0, isWhole: true });
    expect(chooseWindow(toGroups([300, 300, 401]), options)).toMatchObject({ isWhole: false });
    expect(chooseWindow([], options)).toEqual({ from: 0, isWhole: true });
  });

  it("shows the last group however large it is", () => {
    expect(chooseWindow(toGroups([10, 10, 5_000]), options)).toMatchObject({ from: 2 });
  });

  it("fits with its overhead, and is always the same", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 240 }), { minLength: 1, maxLength: 80 }), (sizes) => {
        const groups = toGroups(sizes);
        const window = chooseWindow(groups, options);
        const used = sum(sizes.slice(window.from));
        expect(used + (window.isWhole ? 0 : 60)).toBeLessThanOrEqual(options.tokens);
        expect(chooseWindow(groups, options)).toEqual(window);
        // Anchors are a step apart, and groups are at most 240: little of the room is left unused.
        if (!window.isWhole) expect(used).toBeGreaterThan(1_000 - 60 - 150 - 2 * 240);
      }),
    );
  });

  it("keeps its start while messages are added, until they no longer fit", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 100 }), { minLength: 40, maxLength: 120 }), (sizes) => {
        let before = 0;
        for (let count = 1; count <= sizes.length; count += 1) {
          const shown = sizes.slice(0, count);
          const { from } = chooseWindow(toGroups(shown), options);
          expect(from).toBeGreaterThanOrEqual(before);
          // It moves only when what it showed no longer fits.
          if (from > before && before > 0) expect(sum(shown.slice(before)) + 60).toBeGreaterThan(options.tokens);
          before = from;
        }
      }),
    );
  });

  it("starts at the same message whether or not older ones were read", () => {
    const sizes = Array.from({ length: 100 }, (_, index) => 20 + ((index * 37) % 60));
    const all = chooseWindow(toGroups(sizes), options);
    const read = toGroups(sizes).slice(30);
    const part = chooseWindow(read, { ...options, tokensBefore: sum(sizes.slice(0, 30)), isComplete: false });
    expect(part.from + 30).toBe(all.from);
  });
});

it("the request of a window is the last one before its first message", () => {
  const groups = toGroups(Array.from({ length: 10 }, () => 10));
  expect(findOwnRequest(groups, 6)?.seq).toBe(4);
  expect(findOwnRequest(groups, 8)).toBeUndefined();
  expect(findOwnRequest([group(1, 1), group(1, 2)], 1)).toBeUndefined();
});

import { describe, expect, it } from "vitest";
import { computePromptBudget, ModelWindows, readOverflow } from "./window.ts";

describe("what providers say about a prompt that is too long", () => {
  it.each([
    ["prompt is too long: 200251 tokens > 199999 maximum", 199_999, 200_251, false],
    [
      "input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000, decrease input",
      200_000,
      188_240,
      true,
    ],
    [
      "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens (8000 in the messages, 1000 in the completion).",
      8_192,
      8_000,
      true,
    ],
    [
      "maximum context length is 128,000 tokens. However, your messages resulted in 130,001 tokens",
      128_000,
      130_001,
      false,
    ],
    [
      "the request (5000 tokens) exceeds the available context size (4096 tokens), try increasing it",
      4_096,
      5_000,
      false,
    ],
    ["This model's maximum prompt length is 131072 but the request contains 537812 tokens.", 131_072, 537_812, false],
    [
      "The input token count (1200000) exceeds the maximum number of tokens allowed (1048575).",
      1_048_575,
      1_200_000,
      false,
    ],
  ])("%s", (text, windowTokens, promptTokens, countsAnswer) => {
    expect(readOverflow(text)).toEqual({ windowTokens, promptTokens, countsAnswer });
  });

  it("may hold no number at all", () => {
    expect(readOverflow("context_length_exceeded")).toEqual({ countsAnswer: false });
  });
});

describe("windows", () => {
  it("are learned, and the settings are not exceeded", () => {
    const windows = new ModelWindows(undefined);
    expect(windows.get("m")).toBeUndefined();
    windows.learn("m", { windowTokens: 8_000, countsAnswer: true }, 9_000);
    expect(windows.get("m")).toEqual({ tokens: 8_000, countsAnswer: true });
    expect(windows.get("other")).toBeUndefined();
    const set = new ModelWindows(4_000);
    set.learn("m", { windowTokens: 8_000, countsAnswer: false }, 9_000);
    expect(set.get("m")?.tokens).toBe(4_000);
    expect(new ModelWindows(undefined, 5_000).get("m")?.tokens).toBe(5_000);
  });

  it("shrink below what was refused when an error gives no number", () => {
    const windows = new ModelWindows(undefined);
    windows.learn("m", { countsAnswer: false }, 10_000);
    expect(windows.get("m")?.tokens).toBe(9_000);
    windows.learn("m", { countsAnswer: false }, 8_000);
    expect(windows.get("m")?.tokens).toBe(7_200);
  });

  it("leave room for the answer, all of it where the provider counts it", () => {
    expect(computePromptBudget({ tokens: 10_000, countsAnswer: false }, 1_000)).toBe(9_000);
    expect(computePromptBudget({ tokens: 10_000, countsAnswer: false }, 128_000)).toBe(7_500);
    expect(computePromptBudget({ tokens: 10_000, countsAnswer: true }, 6_000)).toBe(4_000);
  });
});

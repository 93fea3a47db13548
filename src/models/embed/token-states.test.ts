import { describe, expect, test } from "vitest";
import { isInformative, normalise, TokenStates, toBytes } from "./token-states.ts";

describe("token states", () => {
  test("stop words and punctuation are not informative, words and numbers are", () => {
    expect(["the", "?", "flight", "2023"].map(isInformative)).toEqual([false, false, true, true]);
  });

  test("a repeated token is stored once, as the mean direction", () => {
    const states = new TokenStates(2);
    states.add(7, Float32Array.of(2, 0), 0);
    states.add(7, Float32Array.of(0, 5), 0);
    states.add(8, Float32Array.of(0, 1), 0);
    expect([...states.encode()]).toEqual([127, 127, 0, 127]);
  });

  test("bytes use their full range and zero stays zero", () => {
    expect([...toBytes(Float32Array.of(0.5, -0.25, 0))]).toEqual([127, -63, 0]);
    expect([...toBytes(Float32Array.of(0, 0))]).toEqual([0, 0]);
  });

  test("a normalised vector has length one", () => {
    expect([...normalise(Float32Array.of(3, 4))].map((value) => Math.round(value * 10))).toEqual([6, 8]);
  });
});

import { describe, expect, test } from "vitest";
import { encodeVector } from "./vectors.ts";

describe("the text form of a vector", () => {
  test("has the numbers of floats more precisely than bytes", () => {
    expect(encodeVector(Float32Array.of(0.5, -0.25, 0.001, 0))).toBe("[12700,-6350,25,0]");
  });

  test("has signed bytes as they are", () => {
    expect(encodeVector(Int8Array.of(127, -64, 0))).toBe("[127,-64,0]");
  });

  test("has zeros for numbers that cannot be compared", () => {
    expect(encodeVector(Float32Array.of(0, 0))).toBe("[0,0]");
    expect(encodeVector(Float32Array.of(1, Number.NaN))).toBe("[0,0]");
    expect(encodeVector(Float32Array.of(Number.POSITIVE_INFINITY, 1, -1))).toBe("[0,0,0]");
  });
});

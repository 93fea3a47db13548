import { describe, expect, it } from "vitest";
import { findShapeFault } from "./json-shape.ts";

const check = (text: string, limits = { nodesMax: 10, depthMax: 3 }) =>
  findShapeFault(new TextEncoder().encode(text), limits)?.reason;

describe("the shape of JSON text", () => {
  it.each([
    ['{"a":[1,2,3]}', undefined],
    [`[${"{},".repeat(20)}{}]`, /more than 10 values/],
    ["[[[[1]]]]", /more than 3 levels/],
    ['"[[[[[[[[[[[[[[[[["', undefined],
    ['{"a":"\\"[[[[[[[["}', undefined],
    ["", undefined],
    ["]]]]", undefined],
  ])("%s", (text, wanted) => {
    if (wanted === undefined) expect(check(text)).toBeUndefined();
    else expect(check(text)).toMatch(wanted);
  });
});

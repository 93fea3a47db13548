import { describe, expect, it } from "vitest";
import { findShapeFault, JsonShapeCheck } from "./json-shape.ts";

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

  it("is the same wherever the text is cut into pieces", () => {
    for (const text of [
      '{"a":"x\\\\\\"[[[[[","b":[1,[2,[3]]]}',
      `["\\\\",${"1,".repeat(20)}1]`,
      '{"q":"\\""}',
      "[[[[1]]]]",
    ]) {
      const bytes = new TextEncoder().encode(text);
      const limits = { nodesMax: 10, depthMax: 3 };
      const whole = findShapeFault(bytes, limits)?.reason;
      for (let cut = 0; cut <= bytes.length; cut += 1) {
        const pieces = new JsonShapeCheck(limits);
        const found = pieces.push(bytes.subarray(0, cut)) ?? pieces.push(bytes.subarray(cut));
        expect(found?.reason, `${text} at ${cut}`).toBe(whole);
      }
    }
  });

  it("limits the items of each list by itself", () => {
    const limits = { nodesMax: 1_000, depthMax: 3, itemsMax: 3 };
    expect(check("[1,2,3]", limits)).toBeUndefined();
    expect(check("[1,2,3,4]", limits)).toMatch(/more than 3 items/);
    expect(check('{"a":[1,2,3],"b":[1,2,3],"c":[[1,2],[1,2,3],[1]]}', limits)).toBeUndefined();
    expect(check('{"a":[[1,2,3,4]]}', limits)).toMatch(/more than 3 items/);
  });
});

import { expect, it } from "vitest";
import { findAt, findSpan, type Layer, placeLayers } from "./layout.ts";

const layer = (id: string, firstSeq: number, lastSeq: number, depth: number): Layer => ({
  kind: depth > 0 ? "summary" : "message",
  id,
  depth,
  firstSeq,
  lastSeq,
  messages: lastSeq - firstSeq + 1,
  tokens: 10,
  earliestAt: firstSeq,
  latestAt: lastSeq,
  title: id,
});
const layers = [
  layer("old", 1, 400, 2),
  layer("middle", 401, 500, 1),
  layer("new", 501, 501, 0),
  layer("newest", 502, 502, 0),
];

it("places the newest layer on top and the oldest at the bottom, without gaps, within the height", () => {
  const placed = placeLayers(layers, 300);
  expect(placed.map(({ layer: { id } }) => id)).toEqual(["newest", "new", "middle", "old"]);
  expect(placed[0]?.top).toBe(0);
  for (const [index, one] of placed.entries()) {
    const next = placed[index + 1];
    if (next) expect(next.top).toBeCloseTo(one.top + one.height);
    else expect(one.top + one.height).toBeLessThanOrEqual(300.001);
  }
});

it("makes a layer thicker the more messages it stands for", () => {
  const [newest, , middle, old] = placeLayers(layers, 300);
  expect(old?.height).toBeGreaterThan(middle?.height ?? Number.NaN);
  expect(middle?.height).toBeGreaterThan(newest?.height ?? Number.NaN);
});

it("finds the layer at a height, and where a range of the log lies", () => {
  const placed = placeLayers(layers, 300);
  const old = placed[3];
  expect(findAt(placed, (old?.top ?? 0) + 1)).toBe(3);
  expect(findAt(placed, 10_000)).toBe(-1);
  const span = findSpan(placed, 1, 400);
  expect(span?.top).toBeCloseTo(old?.top ?? Number.NaN);
  expect(span?.bottom).toBeCloseTo((old?.top ?? 0) + (old?.height ?? 0));
  expect(findSpan(placed, 900, 901)).toBeUndefined();
});

it("draws nothing for a conversation without messages", () => expect(placeLayers([], 300)).toEqual([]));

import { expect, it } from "vitest";
import { plotLines } from "./plot.ts";

const labels = { title: "Growth", xLabel: "messages", yLabel: "ms" };

/** The y coordinates of the points of each line. */
function readLines(svg: string): number[][] {
  return [...svg.matchAll(/<polyline points="([^"]*)"/g)].map(([, points = ""]) =>
    points.split(" ").map((point) => Number(point.split(",")[1])),
  );
}

it("draws each series as a line in the order of x", () => {
  const svg = plotLines(
    [
      {
        name: "append",
        points: [
          { x: 3, y: 30 },
          { x: 1, y: 10 },
          { x: 2, y: 20 },
        ],
      },
      {
        name: "search",
        points: [
          { x: 1, y: 5 },
          { x: 3, y: 5 },
        ],
      },
    ],
    labels,
  );
  const [append = [], search = []] = readLines(svg);
  expect(append).toEqual(append.toSorted((a, b) => b - a));
  expect(append).toHaveLength(3);
  expect(search[0]).toBe(search[1]);
  for (const text of ["Growth", "messages", "append", "search"]) expect(svg).toContain(`>${text}</text>`);
});

it("places equal factors at equal distances on a log scale", () => {
  const points = [
    { x: 1e4, y: 1 },
    { x: 1e5, y: 10 },
    { x: 1e6, y: 100 },
  ];
  const [ys = []] = readLines(plotLines([{ name: "a", points }], { ...labels, xScale: "log", yScale: "log" }));
  const [first = 0, second = 0, third = 0] = ys;
  expect(first - second).toBeCloseTo(second - third, 0);
});

it("says how many points are not on a log scale", () => {
  const points = [
    { x: 1, y: 0 },
    { x: 2, y: 4 },
    { x: 3, y: Number.NaN },
  ];
  const svg = plotLines([{ name: "a", points }], { ...labels, yScale: "log" });
  expect(svg).toContain("2 points are not on these scales");
  expect(readLines(svg)[0]).toHaveLength(1);
});

it("escapes names, and draws one value, equal values and nothing", () => {
  expect(plotLines([{ name: "<script>&", points: [{ x: 1, y: 1 }] }], labels)).toContain("&lt;script&gt;&amp;");
  for (const points of [
    [],
    [{ x: 0, y: 0 }],
    [
      { x: 2, y: 7 },
      { x: 2, y: 7 },
    ],
    [
      { x: -3, y: -2 },
      { x: 4, y: 1e-9 },
    ],
  ]) {
    for (const scale of ["linear", "log"] as const) {
      expect(plotLines([{ name: "a", points }], { ...labels, xScale: scale, yScale: scale })).not.toMatch(
        /NaN|Infinity/,
      );
    }
  }
});

import { expect, test } from "vitest";
import { computeBitDistances } from "./bit-distances.ts";

function countOnes(value: number): number {
  return [...(value >>> 0).toString(2)].filter((digit) => digit === "1").length;
}

/** Words for each width, with extreme values among pseudo-random ones. */
function fill(length: number): Uint32Array {
  return Uint32Array.from({ length }, (_, index) =>
    index % 7 === 0 ? 0xffffffff : index % 11 === 0 ? 0 : Math.imul(index + 1, 2654435761),
  );
}

// Widths with and without the kernel; 2,048 dimensions, and more than the kernel takes.
test.each([1, 2, 4, 12, 24, 64, 1_028])("rows of %i words differ from a target in as many bits as counted", (words) => {
  for (const count of [0, 1, 3, 150]) {
    const bits = fill(count * words + 5);
    const target = fill(words + 3).subarray(3);
    const counted = Array.from({ length: count }, (_, row) =>
      target.reduce((sum, value, word) => sum + countOnes(value ^ (bits[row * words + word] as number)), 0),
    );
    expect([...computeBitDistances(bits, count, target)]).toEqual(counted);
  }
});

test("more rows than fit the memory of the kernel are compared in parts", () => {
  const bits = fill(40_000 * 12);
  const distances = computeBitDistances(bits, 40_000, new Uint32Array(12));
  for (const row of [0, 6_740, 6_741, 20_000, 39_999]) {
    const own = bits.subarray(row * 12, row * 12 + 12);
    expect(distances[row]).toBe(own.reduce((sum, value) => sum + countOnes(value), 0));
  }
});

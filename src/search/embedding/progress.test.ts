import fc from "fast-check";
import { expect, test } from "vitest";
import {
  addNewMessages,
  type EmbeddingProgress,
  formatGaps,
  isInRanges,
  listCoveredByOther,
  listMissing,
  noProgress,
  parseGaps,
  shortenNewestGap,
} from "./progress.ts";

type Step = { add: number } | { embed: number };

/** Applies steps to the progress and to a plain set of embedded numbers, the newest of the newest gap first. */
function run(steps: readonly Step[]): { progress: EmbeddingProgress; embedded: Set<number> } {
  let progress = noProgress;
  const embedded = new Set<number>();
  for (const step of steps) {
    if ("add" in step) {
      progress = addNewMessages(progress, progress.entrySeq + step.add);
      continue;
    }
    const gap = progress.gaps.at(-1);
    if (!gap) continue;
    const from = Math.max(gap.after + 1, gap.upTo - step.embed + 1);
    for (let seq = from; seq <= gap.upTo; seq += 1) embedded.add(seq);
    progress = shortenNewestGap(progress, from);
  }
  return { progress, embedded };
}

const steps = fc.array(
  fc.oneof(fc.record({ add: fc.integer({ min: 0, max: 9 }) }), fc.record({ embed: fc.integer({ min: 1, max: 9 }) })),
);

test("the missing ranges are exactly the numbers without a vector", () => {
  fc.assert(
    fc.property(steps, (list) => {
      const { progress, embedded } = run(list);
      const missing = listMissing(progress);
      for (let seq = 1; seq <= progress.entrySeq + 3; seq += 1) {
        expect(isInRanges(missing, seq)).toBe(!embedded.has(seq));
      }
    }),
  );
});

test("what another space covers is missing here and embedded there", () => {
  fc.assert(
    fc.property(steps, steps, (left, right) => {
      const [own, other] = [run(left), run(right)];
      const ranges = listCoveredByOther(own.progress, other.progress);
      const last = Math.max(own.progress.entrySeq, other.progress.entrySeq) + 3;
      for (let seq = 1; seq <= last; seq += 1) {
        expect(isInRanges(ranges, seq)).toBe(!own.embedded.has(seq) && other.embedded.has(seq));
      }
    }),
  );
});

test("new messages are embedded before an older gap", () => {
  const backlog = shortenNewestGap(addNewMessages(noProgress, 100), 91);
  const fresh = addNewMessages(backlog, 101);
  expect(fresh.gaps).toEqual([
    { after: 0, upTo: 90 },
    { after: 100, upTo: 101 },
  ]);
  expect(shortenNewestGap(fresh, undefined).gaps).toEqual([{ after: 0, upTo: 90 }]);
});

test("gaps come back from their stored form", () => {
  const gaps = [
    { after: 0, upTo: 90 },
    { after: 100, upTo: 101 },
  ];
  expect(parseGaps(formatGaps(gaps))).toEqual(gaps);
});

import { describe, expect, test } from "vitest";
import { loadConfig } from "../../config/index.ts";
import type { Candidate } from "../fuse.ts";
import {
  applyDecay,
  applyLengthPenalty,
  applyRecency,
  detectNoise,
  diversify,
  filterByFinalMinScore,
  filterByMinScore,
  moveNoiseLast,
} from "./stages.ts";

const settings = loadConfig({ home: "/nowhere", env: {} }).config.advanced.search;
const diversity = { front: 10, same: 0.85, lambda: settings.diversityLambda };
const day = 86_400_000;
const now = 100 * day;

function candidate(key: string, score: number, more: Partial<Candidate["doc"]> = {}): Candidate {
  const doc = {
    key,
    kind: "message",
    id: key,
    conversation: 1,
    branch: 1,
    time: 0,
    role: "user",
    speaker: "user",
  } as const;
  return {
    doc: { ...doc, text: key, tokens: 1, ...more },
    index: 0,
    sources: ["lexical"],
    bm25: 0,
    cosine: undefined,
    score,
    ranksLast: false,
    stages: {},
    notes: [],
    features: {},
  };
}
const keys = (list: readonly Candidate[]) => list.map((one) => one.doc.key);

describe("stages", () => {
  test("a recent message gains 0.1, an old one nothing", () => {
    const list = [candidate("new", 0.5, { time: now }), candidate("old", 0.5, { time: 0 })];
    applyRecency(list, now, settings);
    expect(list[0]?.score).toBeCloseTo(0.6);
    expect(list[1]?.score).toBeCloseTo(0.5, 3);
  });

  test("recency, the decay of notes and diversity depend on settings", () => {
    const list = [candidate("new", 0.5, { time: now }), candidate("note", 1, { time: 0, dated: true })];
    applyRecency(list.slice(0, 1), now, { ...settings, recencyWeight: 0.3 });
    applyDecay(list.slice(1), now, { ...settings, noteDecayFloor: 0.9, noteDecayDays: 0.01 });
    expect(list.map((one) => one.score)).toEqual([0.8, 0.9]);
    const copies = [candidate("a", 0.9), candidate("a again", 0.89), candidate("b", 0.8)];
    const alike = (x: Candidate, y: Candidate) => (x.doc.key[0] === y.doc.key[0] ? 0.99 : 0.1);
    expect(keys(diversify(copies, { ...diversity, lambda: 1 }, alike))).toEqual(["a", "a again", "b"]);
  });

  test("a long text loses at most 70 % of its score", () => {
    const list = [candidate("a", 1, { text: "x".repeat(500) }), candidate("b", 1, { text: "x".repeat(10_000_000) })];
    applyLengthPenalty(list);
    expect(list[0]?.score).toBe(1);
    expect(list[1]?.score).toBe(0.3);
  });

  test("a dated note loses up to half of its score with age, an undated one nothing", () => {
    const list = [
      candidate("today", 1, { time: now, dated: true }),
      candidate("old", 1, { time: now - 60 * day, dated: true }),
      candidate("ancient", 1, { time: now - 10_000 * day, dated: true }),
      candidate("evergreen", 1, { time: 0 }),
    ];
    applyDecay(list, now, settings);
    expect(list[0]?.score).toBe(1);
    expect(list[1]?.score).toBeCloseTo(0.5 + 0.5 / Math.E);
    expect(list[2]?.score).toBeCloseTo(0.5);
    expect(list[3]?.score).toBe(1);
  });

  test("the score filters count what they remove", () => {
    expect(filterByMinScore([candidate("a", 0.4), candidate("b", 0.2)], 0.3)).toMatchObject({ removed: 1 });
  });

  test("the final filter never removes every lexical match: the best stay, marked weak", () => {
    const { remaining, removed } = filterByFinalMinScore(
      [1, 2, 3, 4].map((rank) => candidate(`m${rank}`, 0.1 / rank)),
      0.35,
    );
    expect(keys(remaining)).toEqual(["m1", "m2", "m3"]);
    expect(removed).toBe(1);
    expect(remaining[0]?.notes[0]).toContain("weak");
  });

  test("greetings, refusals and tests are noise; informative texts are not", () => {
    expect(detectNoise("Hello there!")).toBe("a greeting");
    expect(detectNoise("I'm sorry, I can't help with that.")).toBe("a refusal");
    expect(detectNoise("Do you remember what I said?")).toBe("a question about memory");
    expect(detectNoise("ping")).toBe("a diagnostic");
    expect(detectNoise("Hello, my flight leaves at seven on Friday and I need a taxi to the airport.")).toBeUndefined();
    expect(detectNoise("Thanks to the new index the query takes 3 ms, not 300.")).toBeUndefined();
  });

  test("noise moves to the end and stays there", () => {
    const list = moveNoiseLast([candidate("hello", 0.9), candidate("the plan", 0.5)]);
    expect(keys(list)).toEqual(["the plan", "hello"]);
    expect(keys(diversify(list, diversity, () => 0))).toEqual(["the plan", "hello"]);
  });

  test("near-duplicates move down and none is removed", () => {
    const list = [candidate("a", 0.9), candidate("a again", 0.89), candidate("b", 0.8)];
    const alike = (x: Candidate, y: Candidate) => (x.doc.key[0] === y.doc.key[0] ? 0.99 : 0.1);
    const ordered = diversify(list, diversity, alike);
    expect(keys(ordered)).toEqual(["a", "b", "a again"]);
    expect(ordered[2]?.notes[0]).toContain("near-duplicate");
  });
});

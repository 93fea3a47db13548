import { expect, test } from "vitest";
import { addConversationSignals } from "./conversation-signals.ts";
import type { Doc } from "./documents.ts";
import type { Candidate } from "./fuse.ts";
import { collectPool } from "./retrieve.ts";

const hour = 3_600_000;
const weights = { sitting: 0.5, answer: 0.25, firstHand: 0.2, standing: 0.4, question: 0.1, reaction: 0.1 };

type Hints = Parameters<typeof addConversationSignals>[4];

function makeDoc(seq: number, time: number, text: string, conversation = 1): Doc {
  const base = { kind: "message" as const, branch: 0, role: "user", speaker: "user", tokens: 5 };
  return { ...base, key: `msg#${seq}`, id: `m${seq}`, seq, conversation, time, text };
}

function rank(docs: readonly Doc[], scores: readonly number[], hints?: Hints): number[] {
  const pool = collectPool(docs);
  const candidates = docs.map(
    (doc, index): Candidate => ({
      doc,
      index,
      sources: [],
      bm25: 0,
      cosine: undefined,
      score: scores[index] ?? 0,
      ranksLast: false,
      stages: {},
      notes: [],
      features: {},
    }),
  );
  addConversationSignals(candidates, pool, 1, weights, hints);
  return candidates.map((candidate) => candidate.score);
}

test("messages of the sitting with the best match gain, those of another sitting or conversation do not", () => {
  const docs = [
    makeDoc(1, 0, "The pump leaks."),
    makeDoc(2, hour, "I ordered a seal."),
    makeDoc(3, 10 * hour, "Lunch was fine."),
    makeDoc(4, hour, "Another chat.", 2),
  ];
  const scores = rank(docs, [0.8, 0.2, 0.2, 0.2]);
  expect(scores[1]).toBeCloseTo((0.2 + 0.5 * 0.75) / 1.5);
  expect(scores[2]).toBeCloseTo(0.2 / 1.5);
  expect(scores[3]).toBeCloseTo(0.2 / 1.5);
});

test("a message after a matching question gains, one after a statement does not", () => {
  const asked = rank([makeDoc(1, 0, "Who fixed the pump?"), makeDoc(2, 1, "Ana."), makeDoc(3, 2, "Bye.")], [0.8, 0, 0]);
  expect(asked[1]).toBeCloseTo(0.25 / 1.25);
  expect(asked[2]).toBeCloseTo(0);
});

test("scores of one sitting without a question stay as they are", () => {
  expect(rank([makeDoc(1, 0, "The pump leaks."), makeDoc(2, 1, "Bye.")], [0.8, 0.3])).toEqual([0.8, 0.3]);
});

test("equal scores stay equal", () => {
  const scores = rank([makeDoc(1, 0, "a"), makeDoc(2, 1, "b")], [0.3, 0.3]);
  expect(scores[0]).toBe(scores[1]);
});

test("what a message is moves it among messages that match alike", () => {
  const docs = [makeDoc(1, 0, "a"), makeDoc(2, 1, "b"), makeDoc(3, 2, "c"), makeDoc(4, 3, "d")];
  const hints = {
    firstHand: [1, 0, 0, 0],
    standing: [false, true, false, false],
    question: [false, false, true, false],
    reaction: [false, false, false, true],
  };
  const scores = rank(docs, [0.3, 0.3, 0.3, 0.3], hints);
  const whole = 1 + weights.firstHand + weights.standing;
  expect(scores[0]).toBeCloseTo((0.3 + 0.2) / whole);
  expect(scores[1]).toBeCloseTo((0.3 + 0.4) / whole);
  expect(scores[2]).toBeCloseTo((0.3 - 0.1) / whole);
  expect(scores[3]).toBeCloseTo((0.3 - 0.1) / whole);
});

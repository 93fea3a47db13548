import { expect, test } from "vitest";
import { describeCoverage } from "./describe-coverage.ts";

const whole = {
  model: "local/small/384",
  serving: "local/small/384",
  messages: 100,
  vectors: 95,
  instantVectors: 95,
  pendingMessages: 0,
  memories: 2,
  memoryVectors: 2,
  earlier: [],
  index: { storage: "memory" as const, isConverting: false, advice: [] },
};

test("nothing is left to embed when only messages without text have no vector", () => {
  expect(describeCoverage(whole)).toBe("95 of 100 messages and 2 of 2 memories embedded by local/small/384");
});

test("messages, and memories, that wait for the model are named with the command that embeds them", () => {
  expect(describeCoverage({ ...whole, vectors: 10, pendingMessages: 85 })).toContain(
    "(instant vectors of 95 messages serve meanwhile; `varve index` embeds the rest)",
  );
  expect(describeCoverage({ ...whole, memoryVectors: 1 })).toContain("`varve index` embeds the rest");
  expect(describeCoverage({ ...whole, messages: 101, pendingMessages: 1 })).toContain("`varve index` embeds the rest");
  expect(describeCoverage({ ...whole, vectors: 10, instantVectors: 0, pendingMessages: 85 })).toContain(
    "384 (`varve index` embeds the rest)",
  );
});

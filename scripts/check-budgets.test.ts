import { expect, test } from "vitest";
import { findExcess, lowerBudgets } from "./check-budgets.ts";

const operation = { files: 10, reads: 5, writes: 1, transactions: 1 };
const budgets = { operations: { search: operation, turn: operation }, lines: { search: 100 }, settings: 20 };

test("a number above its budget, and one without a budget, are named with both numbers", () => {
  const measured = { ...budgets, lines: { search: 101, text: 5 }, settings: 20 };
  expect(findExcess(budgets, measured)).toEqual([
    "lines.search is 101; its budget is 100",
    "lines.text has no budget; it is 5",
  ]);
  expect(findExcess(budgets, budgets)).toEqual([]);
});

test("budgets are lowered to what is reached, and never raised", () => {
  const measured = {
    operations: { search: { ...operation, reads: 2, files: 12 }, turn: { ...operation, reads: 1 } },
    lines: { search: 90 },
    settings: 25,
  };
  const lowered = lowerBudgets(budgets, measured);
  expect(lowered.operations.search).toEqual({ ...operation, reads: 2 });
  // A turn has some to spare, because background work may fall into its time.
  expect(lowered.operations.turn).toEqual(operation);
  expect(lowered).toMatchObject({ lines: { search: 90 }, settings: 20 });
});

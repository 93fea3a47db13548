import { expect, test } from "vitest";
import { addCounts, countVitest, summaryLine } from "./test-counts.ts";

function report(
  numbers: Partial<Record<"passed" | "failed" | "pending" | "todo", number>>,
  files: unknown[] = [],
): string {
  return JSON.stringify({
    numPassedTests: numbers.passed ?? 0,
    numFailedTests: numbers.failed ?? 0,
    numPendingTests: numbers.pending ?? 0,
    numTodoTests: numbers.todo ?? 0,
    testResults: files,
  });
}

test("the last line leaves out skipped tests only when there are none", () => {
  expect(summaryLine({ passed: 12, failed: 0, skipped: 0 })).toBe("12 passed, 0 failed");
  expect(summaryLine({ passed: 12, failed: 1, skipped: 3 })).toBe("12 passed, 1 failed, 3 skipped");
});

test("a report's numbers are taken over", () => {
  expect(countVitest(report({ passed: 5, pending: 2, todo: 1 }), 0)).toEqual({ passed: 5, failed: 0, skipped: 3 });
});

test("a file that cannot be loaded is a failure", () => {
  const files = [
    { status: "failed", assertionResults: [] },
    { status: "failed", assertionResults: [{ status: "failed" }] },
    { status: "passed", assertionResults: [] },
  ];
  expect(countVitest(report({ failed: 1 }, files), 1).failed).toBe(2);
});

test("an error outside every test is a failure", () => {
  expect(countVitest(report({ passed: 5 }), 1)).toEqual({ passed: 5, failed: 1, skipped: 0 });
});

test("a run without a report is a failure", () => {
  expect(countVitest(undefined, 0)).toEqual({ passed: 0, failed: 1, skipped: 0 });
});

test("counts add up", () => {
  const sum = addCounts({ passed: 1, failed: 2, skipped: 3 }, { passed: 10, failed: 20, skipped: 30 });
  expect(sum).toEqual({ passed: 11, failed: 22, skipped: 33 });
});

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
  expect(countVitest(report({ passed: 5, pending: 2, todo: 1 }), 0)).toMatchObject({
    passed: 5,
    failed: 0,
    skipped: 3,
  });
});

test("a file that cannot be loaded is a failure", () => {
  const files = [
    { name: "a.test.ts", status: "failed", message: "no such module", assertionResults: [] },
    {
      name: "b.test.ts",
      status: "failed",
      assertionResults: [
        { status: "failed", fullName: "a sum is right", failureMessages: ["expected 1 to be 2"] },
        { status: "passed", fullName: "a product is right" },
      ],
    },
    { name: "c.test.ts", status: "passed", assertionResults: [] },
  ];
  const counts = countVitest(report({ failed: 1 }, files), 1);
  expect(counts.failed).toBe(2);
  expect(counts.failures).toEqual([
    "a.test.ts\n    no such module",
    "b.test.ts > a sum is right\n    expected 1 to be 2",
  ]);
});

test("an error outside every test is a failure", () => {
  expect(countVitest(report({ passed: 5 }), 1)).toMatchObject({ passed: 5, failed: 1, skipped: 0 });
});

test("a run without a report is a failure", () => {
  expect(countVitest(undefined, 0)).toMatchObject({ passed: 0, failed: 1, skipped: 0 });
});

test("counts add up", () => {
  const sum = addCounts(
    { passed: 1, failed: 2, skipped: 3, failures: ["a", "b"] },
    { passed: 10, failed: 20, skipped: 30, failures: ["c"] },
  );
  expect(sum).toEqual({ passed: 11, failed: 22, skipped: 33, failures: ["a", "b", "c"] });
});

/** Counts of tests, and the line that programs read them from. */

export interface Counts {
  passed: number;
  failed: number;
  skipped: number;
  /** Failed tests, with the beginning of the reason: listed again at the end, where a long output is read first. */
  failures: readonly string[];
}

export const noCounts: Counts = { passed: 0, failed: 0, skipped: 0, failures: [] };

export function addCounts(a: Counts, b: Counts): Counts {
  return {
    passed: a.passed + b.passed,
    failed: a.failed + b.failed,
    skipped: a.skipped + b.skipped,
    failures: [...a.failures, ...b.failures],
  };
}

/** The last line of `npm test`. It is read by machines: its form is fixed. */
export function summaryLine({ passed, failed, skipped }: Omit<Counts, "failures">): string {
  return `${passed} passed, ${failed} failed${skipped === 0 ? "" : `, ${skipped} skipped`}`;
}

/** The fields of vitest's JSON report that count. */
interface VitestReport {
  numPassedTests: number;
  numFailedTests: number;
  numPendingTests: number;
  numTodoTests: number;
  testResults: FileReport[];
}

interface FileReport {
  name: string;
  status: string;
  /** Why the file could not be loaded. */
  message?: string;
  assertionResults: { status: string; fullName: string; failureMessages?: string[] }[];
}

const failureLines = 8;

function listFailures({ name, message, assertionResults }: FileReport): string[] {
  const failed = assertionResults.filter((test) => test.status === "failed");
  if (failed.length === 0) return [`${name}\n${indent(message ?? "")}`];
  return failed.map(
    ({ fullName, failureMessages = [] }) => `${name} > ${fullName}\n${indent(failureMessages.join("\n"))}`,
  );
}

function indent(text: string): string {
  const lines = text.split("\n").slice(0, failureLines);
  return lines.map((line) => `    ${line}`).join("\n");
}

/**
 * The counts of a run of vitest. A file that could not even be loaded holds no failed test, and an error outside any
 * test only shows in the exit code: both count as a failure, as does a run that left no report.
 */
export function countVitest(reportText: string | undefined, exitCode: number | null): Counts {
  if (reportText === undefined) return { ...noCounts, failed: 1, failures: ["vitest wrote no report"] };
  const report: VitestReport = JSON.parse(reportText);
  const brokenFiles = report.testResults.filter(
    ({ status, assertionResults }) => status === "failed" && !assertionResults.some((test) => test.status === "failed"),
  );
  const failed = report.numFailedTests + brokenFiles.length;
  const isErrorOutside = failed === 0 && exitCode !== 0;
  return {
    passed: report.numPassedTests,
    failed: isErrorOutside ? 1 : failed,
    skipped: report.numPendingTests + report.numTodoTests,
    failures: isErrorOutside
      ? [`an error outside every test, see above (vitest ended with ${exitCode})`]
      : report.testResults.filter(({ status }) => status === "failed").flatMap(listFailures),
  };
}

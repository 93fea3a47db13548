import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { findCause, readOutcome } from "./outcome.ts";

const chatter = "compiling the harbour, one stone after the other\n".repeat(60);

describe("exit codes", () => {
  it("of Claude Code come as an error with the code in front", () => {
    expect(readOutcome(`Exit code 1\n${chatter}`, { isError: true })).toMatchObject({ outcome: "failed" });
    expect(readOutcome("nothing to report", { isError: false })).toMatchObject({ outcome: "passed" });
    expect(readOutcome("", { isError: false })).toMatchObject({ outcome: "passed" });
    expect(readOutcome("")).toEqual({ outcome: "unknown" });
  });

  it("of pi come at the end", () => {
    expect(readOutcome(`${chatter}\nCommand exited with code 2`)).toMatchObject({ outcome: "failed", exitCode: 2 });
    expect(readOutcome(`${chatter}\nCommand exited with code 0`)).toMatchObject({ outcome: "passed", exitCode: 0 });
  });

  it("of Codex come in JSON, or in front of any length of output", () => {
    const wrap = (output: string, code: number) =>
      JSON.stringify({ output, metadata: { exit_code: code, duration_seconds: 0.4 } });
    expect(readOutcome(wrap(chatter, 1))).toMatchObject({ outcome: "failed", exitCode: 1 });
    expect(readOutcome(wrap(chatter, 0))).toMatchObject({ outcome: "passed", exitCode: 0 });
    const plain = `Exit code: 1\nWall time: 0.4 seconds\nOutput:\n${chatter}`;
    expect(readOutcome(plain)).toMatchObject({ outcome: "failed", exitCode: 1 });
    const chunk = `Chunk ID: 4f\nWall time: 0.4 seconds\nProcess exited with code 101\nOriginal token count: 9\nOutput:\n${chatter}`;
    expect(readOutcome(chunk)).toMatchObject({ outcome: "failed", exitCode: 101 });
    expect(readOutcome(chunk.replace("code 101", "code 0"))).toMatchObject({ outcome: "passed", exitCode: 0 });
    expect(readOutcome('{"output": broken')).toMatchObject({ outcome: "passed" });
  });

  it("are not numbers that the output happens to name", () => {
    expect(readOutcome("The query returned 3 rows.")).toMatchObject({ outcome: "passed" });
    expect(readOutcome("The ferry returned 12 times.")).toMatchObject({ outcome: "passed" });
  });

  it("of a filter say nothing about the command before it", () => {
    const hints = { isError: true, isFiltered: true };
    expect(readOutcome("Tests  12 passed (12)", hints)).toEqual({ outcome: "passed", detail: "12 passed (12)" });
    expect(readOutcome("Tests  1 failed | 11 passed (12)", { isError: false, isFiltered: true })).toMatchObject({
      outcome: "failed",
    });
    expect(readOutcome("", hints)).toEqual({ outcome: "unknown" });
  });

  it("are not needed where the output was filtered for errors", () => {
    const hints = { isFiltered: true, filtersErrors: true };
    expect(readOutcome("", hints)).toEqual({ outcome: "passed", detail: "no errors" });
    expect(readOutcome("0\n", hints)).toEqual({ outcome: "passed", detail: "no errors" });
    expect(readOutcome("17\n", hints)).toEqual({ outcome: "failed", detail: "17 errors" });
    expect(readOutcome("src/a.ts(3,1): error TS2304: Cannot find name 'tide'.", hints)).toMatchObject({
      outcome: "failed",
      cause: "src/a.ts(3,1): error TS2304: Cannot find name 'tide'.",
    });
    expect(readOutcome("ERROR in ./src/index.js 3:7", hints)).toMatchObject({ outcome: "failed" });
    expect(readOutcome("Found 0 errors.", hints)).toMatchObject({ outcome: "passed" });
  });
});

describe("summaries of test runs", () => {
  it.each([
    [
      "vitest",
      " Test Files  1 failed | 3 passed (4)\n      Tests  2 failed | 40 passed (42)\n",
      "2 failed | 40 passed (42)",
    ],
    ["jest", "Tests:       1 failed, 12 passed, 13 total\nTime: 2 s", "1 failed, 12 passed, 13 total"],
    ["pytest", "FAILED tests/test_tide.py::test_high\n=== 1 failed, 9 passed in 0.42s ===", "1 failed, 9 passed"],
    [
      "cargo",
      "test tide::high ... FAILED\ntest result: FAILED. 3 passed; 1 failed; 0 ignored; 0 measured",
      "test result: FAILED. 3 passed; 1 failed; 0 ignored; 0 measured",
    ],
    [
      "go",
      "--- FAIL: TestTide (0.00s)\n    tide_test.go:9: got 3, want 4\nFAIL\nFAIL\texample.org/tide\t0.2s",
      undefined,
    ],
    ["tsc", "src/a.ts(3,1): error TS2304: Cannot find name 'tide'.", "1 type error"],
    [
      "tsc of a project",
      "src/a.ts:3:1 - error TS2304: Cannot find name 'tide'.\n\nFound 3 errors in 2 files.",
      "Found 3 errors in 2 files.",
    ],
    [
      "eslint",
      "  3:1  error  'tide' is not defined  no-undef\n\n✖ 2 problems (1 error, 1 warning)",
      "2 problems (1 error, 1 warning)",
    ],
    ["minitest", "12 runs, 15 assertions, 2 failures, 0 errors, 0 skips", undefined],
    ["mocha", "  11 passing (20ms)\n  2 failing", undefined],
  ])("of %s that fail", (_name, output, detail) => {
    const found = readOutcome(output, { isFiltered: true });
    expect(found.outcome).toBe("failed");
    if (detail !== undefined) expect(found.detail).toBe(detail);
  });

  it.each([
    ["vitest", " Test Files  4 passed (4)\n      Tests  42 passed (42)\n", "42 passed (42)"],
    ["jest", "Tests:       13 passed, 13 total", "13 passed, 13 total"],
    ["pytest", "=== 10 passed in 0.42s ===", "10 passed"],
    ["cargo", "test result: ok. 4 passed; 0 failed; 0 ignored", "test result: ok. 4 passed; 0 failed; 0 ignored"],
    ["go", "ok  \texample.org/tide\t0.2s", undefined],
    ["tsc", "Found 0 errors.", undefined],
    ["eslint with warnings", "✖ 2 problems (0 errors, 2 warnings)", "2 problems (0 errors, 2 warnings)"],
    ["minitest", "12 runs, 15 assertions, 0 failures, 0 errors, 0 skips", undefined],
  ])("of %s that pass", (_name, output, detail) => {
    const found = readOutcome(output, { isFiltered: true });
    expect(found.outcome).toBe("passed");
    if (detail !== undefined) expect(found.detail).toBe(detail);
  });

  it("count more than an error that was printed on the way", () => {
    const output =
      "stderr | tide.test.ts\nTypeError: the moon is missing\n    at high (tide.ts:4:2)\n\n Tests  12 passed (12)\n";
    expect(readOutcome(output, { isError: false })).toEqual({ outcome: "passed", detail: "12 passed (12)" });
    expect(readOutcome(output.replace(/\n Tests.*/, ""), {})).toMatchObject({ outcome: "failed" });
  });

  it("are found at the end of a very long output", () => {
    const output = `${"line of output\n".repeat(40_000)} Tests  1 failed | 3 passed (4)\n`;
    expect(readOutcome(output)).toMatchObject({ outcome: "failed", detail: "1 failed | 3 passed (4)" });
  });
});

describe("the cause of a failure", () => {
  it.each([
    [
      "TypeError: moon is undefined\n    at high (src/tide.ts:4:2)\n    at Object.<anonymous> (src/x.ts:1:1)",
      "TypeError: moon is undefined",
    ],
    [
      'Traceback (most recent call last):\n  File "tide.py", line 4, in <module>\n    high()\nKeyError: 1\n\nDuring handling:\nTraceback (most recent call last):\n  File "tide.py", line 9, in low\nValueError: no such moon',
      "ValueError: no such moon",
    ],
    [
      "warning: unused\nerror[E0425]: cannot find value `moon` in this scope\n --> src/tide.rs:4:5",
      "error[E0425]: cannot find value `moon` in this scope",
    ],
    [
      'npm error code ELIFECYCLE\nnpm error path /srv\nnpm error Missing script: "tide"',
      'npm error Missing script: "tide"',
    ],
    ["bash: tidectl: command not found", "bash: tidectl: command not found"],
    [
      "Error: listen EADDRINUSE: address already in use :::4000",
      "Error: listen EADDRINUSE: address already in use :::4000",
    ],
    ["fatal: not a git repository", "fatal: not a git repository"],
    ["panic: assignment to entry in nil map\n\ngoroutine 1 [running]:", "panic: assignment to entry in nil map"],
    ["all is well", undefined],
  ])("of %j", (output, cause) => {
    expect(findCause(output)).toBe(cause);
  });

  it("is one line of at most 160 characters without half a character", () => {
    const cause = findCause(`Error: ${"😀".repeat(200)}`) ?? "";
    expect(cause.length).toBeLessThanOrEqual(160);
    expect(cause.isWellFormed()).toBe(true);
  });

  it("is never a stack frame", () => {
    const frame = fc.constantFrom(
      "    at failedError (src/error.ts:4:2)",
      "    at async Promise.all (index 0)",
      "at Error.not.found (native:3)",
      '  File "/app/error.py", line 3, in failed',
      "  12 | throw new Error('failed to dock')",
      "#3 0x0041 in error_failed ()",
    );
    const line = fc.constantFrom("ok", "Error: no dock", "the dock failed to open", "1 failed", "");
    fc.assert(
      fc.property(fc.array(fc.oneof(frame, line), { maxLength: 30 }), (lines) => {
        const cause = findCause(lines.join("\n"));
        if (cause !== undefined) expect(cause).not.toMatch(/^(?:at |File "|12 \||#3)/);
      }),
    );
  });
});

describe("hostile output", () => {
  it.each([
    ["empty lines", `x${"\n".repeat(200_000)}x`],
    ["lines of spaces", `x${" \n".repeat(100_000)}x`],
    ["spaces", `x${" ".repeat(200_000)}x`],
    ["tabs and line ends", `x${"\t\n\t".repeat(60_000)}x`],
    ["digits", "1".repeat(200_000)],
    ["numbers", "1 ".repeat(100_000)],
    ["words", "a".repeat(200_000)],
    ["dotted words", "a.".repeat(100_000)],
    ["errors", "Error ".repeat(40_000)],
    ["exit codes", "exit code ".repeat(30_000)],
    ["open JSON", `{"output":"${"x".repeat(200_000)}`],
    ["brackets", "1 problem (".repeat(20_000)],
  ])("of %s takes little time", (_name, output) => {
    const start = performance.now();
    readOutcome(output, { isError: true });
    expect(performance.now() - start).toBeLessThan(1_500);
  });

  it("never makes it throw", () => {
    const piece = fc.constantFrom(
      "FAIL",
      "error",
      ":",
      "\n",
      " ",
      "12",
      "passed",
      "failed",
      "exit code",
      "\u0000",
      "✖",
    );
    fc.assert(
      fc.property(
        fc.array(fc.oneof(piece, fc.string({ unit: "binary", maxLength: 8 })), { maxLength: 80 }),
        fc.record({ isError: fc.boolean(), isFiltered: fc.boolean(), filtersErrors: fc.boolean() }),
        (pieces, hints) => {
          const found = readOutcome(pieces.join(" "), hints);
          expect(["passed", "failed", "unknown"]).toContain(found.outcome);
          expect((found.detail ?? "").length).toBeLessThanOrEqual(80);
          expect(readOutcome(pieces.join(" "), hints)).toEqual(found);
        },
      ),
      { numRuns: 400 },
    );
  });
});

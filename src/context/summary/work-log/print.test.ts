import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { estimateTokens } from "../../../text/index.ts";
import { isWorkLogText, parseWorkLog } from "./parse.ts";
import { printWorkLog } from "./print.ts";
import {
  type CheckLine,
  type ErrorLine,
  emptyWorkLog,
  type FileLine,
  mergeWorkLogs,
  type RequestLine,
  type TodoLine,
  type WorkLog,
} from "./work-log.ts";

const print = (log: WorkLog, targetTokens = 100_000) => printWorkLog(log, { targetTokens, sourceTokens: 5_000 });

const sample: WorkLog = {
  ...emptyWorkLog(),
  requests: [
    {
      text: "Sort the timetable",
      seq: 1,
      state: "done",
      outcome: "The timetable is sorted.",
      stamp: "2026-03-03 09:00",
    },
    { text: "Paint the buoys", seq: 9, state: "interrupted" },
    { text: "Paint the buoys green", seq: 12, state: "corrected" },
    { text: "Keep the numbers white", seq: 15, state: "continues" },
  ],
  files: [
    { path: "/srv/ferry/src/table.ts", operation: "edited", edits: 3, lines: { added: 20, removed: 4 }, seq: 3 },
    { path: "/srv/ferry/src/buoy.ts", operation: "created", edits: 1, lines: { added: 9, removed: 0 }, seq: 10 },
    {
      path: "/srv/ferry/old/pier.ts",
      operation: "moved",
      target: "/srv/ferry/src/dock.ts",
      edits: 0,
    },
    { path: "notes/today.md", operation: "deleted", edits: 0, seq: 13 },
    { path: "/tmp/scratch/x.log", operation: "created", edits: 1, lines: { added: 1, removed: 0 }, seq: 14 },
  ],
  checks: [
    { text: "npm run test:unit", outcome: "passed", detail: "5 passed (5)", runs: 2, seq: 6 },
    {
      text: "cargo test (core)",
      outcome: "failed",
      detail: "test result: FAILED. 1 passed; 2 failed",
      runs: 1,
      seq: 7,
    },
  ],
  events: [{ text: 'committed 4f2a9c1 "tides" on main', seq: 8 }],
  errors: [
    {
      text: "TypeError: moon (of Mars) is undefined",
      command: "npm run test:unit (core)",
      fix: "editing src/a.ts",
      seq: 5,
    },
    { text: "fatal: no remote", command: "git push", seq: 8 },
  ],
  facts: [{ text: "node --version: v24.1.0", seq: 2 }],
  todos: [
    { text: "Dredge the channel", state: "done", seq: 4 },
    { text: "Paint the buoys", state: "active", seq: 4 },
    { text: "Light the beacon", state: "pending", seq: 4 },
  ],
  pending: [{ text: "question: Which white?", seq: 16 }],
  references: [{ text: "PORT-381, #ff8800", seq: 1 }],
};

describe("a printed log", () => {
  it("has its sections in order, a citation on each line, and the fixed lines at the end", () => {
    const lines = print(sample).split("\n");
    expect(lines.filter((line) => /^[A-Z][a-z]+$/.test(line))).toEqual(["Requests", "Done", "Found", "Open", "Refer"]);
    expect(lines).toContain("- 2026-03-03 09:00 Sort the timetable → The timetable is sorted. [msg#1]");
    expect(lines).toContain("Paths are in /srv/ferry");
    expect(lines).toContain("- edited src/table.ts ×3 (+20 −4) [msg#3]");
    expect(lines).toContain("- moved old/pier.ts → src/dock.ts");
    expect(lines).toContain("- deleted ./notes/today.md [msg#13]");
    expect(lines).toContain("- ran npm run test:unit: passed (5 passed (5)) ×2 [msg#6]");
    expect(lines).toContain("- [~] Paint the buoys [msg#4]");
    expect(lines).toContain("- failing: cargo test (core): test result: FAILED. 1 passed; 2 failed [msg#7]");
    expect(lines.at(-2)).toBe("Stands for 5000 tokens.");
    expect(lines.at(-1)).toMatch(/^Expand for details about: x\.log, today\.md, pier\.ts/);
  });

  it("says that no file changed", () => {
    expect(print({ ...emptyWorkLog(), requests: [{ text: "Explain the tides" }] })).toContain("\nFiles: none\n");
  });

  it("is parsed to what it was printed from", () => {
    const parsed = parseWorkLog(print(sample));
    expect(parsed.files).toEqual(sample.files);
    expect(parsed.checks).toEqual(sample.checks);
    expect(parsed.errors).toEqual(sample.errors);
    expect(parsed.todos).toEqual(sample.todos);
    expect(parsed.requests).toEqual(sample.requests);
    expect(parsed.events).toEqual(sample.events);
    expect(parsed.facts).toEqual(sample.facts);
    expect(parsed.pending).toEqual(sample.pending);
    expect(parsed.references).toEqual(sample.references);
  });

  it("stays the same however often it is parsed, merged and printed", () => {
    let text = print(sample);
    for (let round = 0; round < 4; round += 1) {
      const merged = mergeWorkLogs([parseWorkLog(text)]);
      expect({ ...merged, topics: [] }).toEqual({ ...parseWorkLog(print(sample)), topics: [] });
      text = print(merged);
    }
  });

  it("names the open check also where there was no room for its line", () => {
    const text = "Requests\n- Test it\nOpen\n- failing: cargo test: test result: FAILED. 1 passed [msg#7]";
    expect(parseWorkLog(text).checks).toEqual([
      { text: "cargo test", outcome: "failed", detail: "test result: FAILED. 1 passed", runs: 1, seq: 7 },
    ]);
  });

  it("drops a failing check from the open work when one of its kind passed later", () => {
    const failed: CheckLine = { text: "npx vitest run a.test.ts", outcome: "failed", runs: 1 };
    const passed: CheckLine = { text: "npm test", outcome: "passed", runs: 1 };
    expect(print({ ...emptyWorkLog(), checks: [failed] })).toContain("- failing: npx vitest run a.test.ts");
    expect(print({ ...emptyWorkLog(), checks: [failed, passed] })).not.toContain("failing:");
    expect(print({ ...emptyWorkLog(), checks: [passed, failed] })).toContain("failing:");
  });

  it("says how many lines it left out", () => {
    const log: WorkLog = {
      ...emptyWorkLog(),
      requests: Array.from({ length: 80 }, (_, index) => ({
        text: `Check the rope number ${index} of the pier`,
        seq: index,
      })),
      files: Array.from(
        { length: 90 },
        (_, index): FileLine => ({
          path: `src/rope${index}.ts`,
          operation: "edited",
          edits: 1,
          lines: { added: 1, removed: 1 },
        }),
      ),
      todos: Array.from(
        { length: 60 },
        (_, index): TodoLine => ({ text: `Coil the rope number ${index}`, state: "pending" }),
      ),
    };
    const text = print(log, 900);
    const shown = (pattern: RegExp) => text.match(pattern)?.length ?? 0;
    const left = (name: string) => Number(new RegExp(`(\\d+) more ${name}s?`).exec(text)?.[1] ?? 0);
    expect(left("request")).toBeGreaterThan(0);
    expect(left("request") + shown(/^- Check/gm)).toBe(80);
    expect(left("file") + shown(/^- edited/gm)).toBe(90);
    expect(left("todo") + shown(/^- \[ \]/gm)).toBe(60);
  });

  it("shows the open work and the newest request before anything else", () => {
    const requests = Array.from({ length: 200 }, (_, index) => ({
      text: `Check the rope number ${index} of the pier`,
      seq: index,
    }));
    const text = print({ ...sample, requests }, 400);
    expect(text).toContain("Check the rope number 199");
    expect(text).toContain("[~] Paint the buoys");
    expect(text).toContain("question: Which white?");
  });
});

describe("any log", () => {
  const line = fc.oneof(
    fc.lorem({ maxCount: 12 }),
    fc.constantFrom(
      "请把时刻表排序并加上夜班船",
      "a → b",
      "ran x: passed",
      "[x] y",
      "(in z)",
      "- dash",
      "2026-01-01 day",
    ),
  );
  const seq = fc.option(fc.nat(5_000), { nil: undefined });
  const path = fc
    .tuple(
      fc.constantFrom("", "/srv/app/", "/srv/app/src/", "src/", "/tmp/"),
      fc.stringMatching(/^[a-z]{1,12}\.(?:ts|md|py)$/),
    )
    .map((parts) => parts.join(""));
  const strip = <T extends { seq?: number | undefined }>(one: T): T => JSON.parse(JSON.stringify(one)) as T;
  const request = fc.record({
    text: line,
    seq,
    state: fc.constantFrom("done", "continues", "interrupted", "corrected"),
  });
  const file = fc.record({
    path,
    operation: fc.constantFrom("created", "edited"),
    edits: fc.integer({ min: 1, max: 9 }),
    lines: fc.record({ added: fc.integer({ min: 1, max: 99 }), removed: fc.nat(99) }),
    seq,
  });
  const check = fc.record({
    text: fc.constantFrom("npm test", "npm run lint", "cargo test (core)", "make", "npx tsc --noEmit"),
    outcome: fc.constantFrom("passed", "failed"),
    runs: fc.integer({ min: 1, max: 5 }),
    seq,
  });
  const todo = fc.record({ text: fc.lorem({ maxCount: 9 }), state: fc.constantFrom("done", "active", "pending"), seq });
  const error = fc.record({ text: fc.lorem({ maxCount: 9 }), command: fc.constantFrom("make", "git push"), seq });
  const anyLog: fc.Arbitrary<WorkLog> = fc
    .record({
      requests: fc.array(request.map(strip), { maxLength: 60 }),
      files: fc.uniqueArray(file.map(strip), { maxLength: 60, selector: (one) => one.path.replace(/^.*\//, "") }),
      checks: fc.uniqueArray(check.map(strip), { maxLength: 5, selector: (one) => one.text }),
      todos: fc.array(todo.map(strip), { maxLength: 30 }),
      errors: fc.uniqueArray(error.map(strip), { maxLength: 20, selector: (one) => one.text }),
      events: fc.array(fc.record({ text: fc.lorem({ maxCount: 12 }), seq }).map(strip), { maxLength: 10 }),
      facts: fc.array(fc.record({ text: line, seq }).map(strip), { maxLength: 10 }),
      references: fc.array(fc.record({ text: line, seq }).map(strip), { maxLength: 10 }),
      pending: fc.array(fc.record({ text: fc.lorem({ maxCount: 12 }), seq }).map(strip), { maxLength: 3 }),
      topics: fc.array(fc.lorem({ maxCount: 2 }), { maxLength: 12 }),
    })
    .map((log) => log as WorkLog);

  it("never exceeds a target of 200 tokens and more, and prints the same each time", () => {
    fc.assert(
      fc.property(anyLog, fc.integer({ min: 200, max: 4_000 }), (log, target) => {
        const text = print(log, target);
        expect(estimateTokens(text)).toBeLessThanOrEqual(target);
        expect(print(log, target)).toBe(text);
        expect(text.isWellFormed()).toBe(true);
        expect(() => parseWorkLog(text)).not.toThrow();
      }),
      { numRuns: 300 },
    );
  });

  it("keeps files, checks, errors, todos and requests when there is room", () => {
    const bare = ({ text, seq: at, state }: RequestLine) => JSON.stringify([text.replaceAll(" → ", " -> "), at, state]);
    fc.assert(
      fc.property(anyLog, (log) => {
        const parsed = parseWorkLog(print(log, 1_000_000));
        expect(parsed.files).toEqual(log.files);
        expect(parsed.checks).toEqual(log.checks);
        // Errors without a fix are printed with what is open, after the others.
        const byText = (a: ErrorLine, b: ErrorLine) => (a.text < b.text ? -1 : 1);
        expect((parsed.errors as ErrorLine[]).sort(byText)).toEqual([...log.errors].sort(byText));
        expect(parsed.todos).toEqual(log.todos);
        // A request that begins with a date is read as stamped; its words are the same.
        const said = parsed.requests.map(({ stamp, ...one }) =>
          stamp ? { ...one, text: `${stamp} ${one.text}` } : one,
        );
        expect(said.map(bare)).toEqual(log.requests.map(bare));
      }),
      { numRuns: 200 },
    );
  });
});

describe("a parsed summary", () => {
  it("may be written by a model: with other headings, bullets and words", () => {
    const text =
      "## Requests\n* Sort the timetable\n**Done:**\n• edited src/a.ts\n- the pier was swept\n### Open\n1 thing";
    expect(isWorkLogText(text)).toBe(true);
    expect(parseWorkLog(text)).toMatchObject({
      requests: [{ text: "Sort the timetable" }],
      files: [{ path: "src/a.ts", operation: "edited", edits: 1 }],
      events: [{ text: "the pier was swept" }],
      pending: [{ text: "1 thing" }],
    });
    expect(isWorkLogText("The pier was swept.\nDone\nFiles: none")).toBe(false);
  });

  it("never fails", () => {
    const piece = fc.constantFrom(
      "Requests",
      "Done",
      "Found",
      "Open",
      "\n",
      "- ",
      "[msg#1]",
      "ran x: passed",
      "error: ",
      "[x] ",
      "Paths are in /a",
      " → ",
      "failing: a: b",
    );
    fc.assert(
      fc.property(fc.array(fc.oneof(piece, fc.string({ maxLength: 8 })), { maxLength: 60 }), (pieces) => {
        const log = parseWorkLog(pieces.join(""));
        expect(estimateTokens(print(log, 300))).toBeLessThanOrEqual(300);
      }),
      { numRuns: 300 },
    );
  });
});

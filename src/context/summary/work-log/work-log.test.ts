import { describe, expect, it } from "vitest";
import { addCheckRun, emptyWorkLog, type FileLine, mergeWorkLogs, type WorkLog } from "./work-log.ts";

const log = (fields: Partial<WorkLog>): WorkLog => ({ ...emptyWorkLog(), ...fields });
const file = (path: string, operation: FileLine["operation"], edits = 1): FileLine => ({
  path,
  operation,
  edits,
  lines: { added: 2 * edits, removed: edits },
});

describe("merged logs", () => {
  it("sum the edits of a file; a created file stays created", () => {
    const merged = mergeWorkLogs([
      log({ files: [file("a.ts", "created"), file("b.ts", "edited", 2)] }),
      log({ files: [file("a.ts", "edited", 3)] }),
    ]);
    expect(merged.files).toEqual([
      { path: "b.ts", operation: "edited", edits: 2, lines: { added: 4, removed: 2 } },
      { path: "a.ts", operation: "created", edits: 4, lines: { added: 8, removed: 4 } },
    ]);
  });

  it("keep the last state of a file", () => {
    const last = (...operations: FileLine["operation"][]) =>
      mergeWorkLogs(operations.map((operation) => log({ files: [file("a.ts", operation)] }))).files[0]?.operation;
    expect(last("created", "deleted")).toBe("deleted");
    expect(last("edited", "moved")).toBe("moved");
    expect(last("deleted", "created")).toBe("created");
    expect(last("deleted", "edited")).toBe("edited");
    expect(last("edited", "created")).toBe("edited");
  });

  it("keep the last outcome of a check, and the one before where it cannot be told", () => {
    const check = { text: "npm test", runs: 2 };
    const merged = mergeWorkLogs([
      log({ checks: [{ ...check, outcome: "failed", detail: "3 failed" }] }),
      log({ checks: [{ ...check, outcome: "passed" }] }),
    ]);
    expect(merged.checks).toEqual([{ text: "npm test", outcome: "passed", runs: 4 }]);
    const known = { ...check, outcome: "failed" as const };
    expect(addCheckRun(known, { ...check, outcome: "unknown" })).toEqual({ ...known, runs: 4 });
  });

  it("close an error when its command passes later, and list it once", () => {
    const error = { text: "TypeError: moon", command: "npm test" };
    const passed = { text: "npm test", outcome: "passed" as const, runs: 1 };
    expect(mergeWorkLogs([log({ errors: [error] }), log({ errors: [error] })]).errors).toEqual([error]);
    const merged = mergeWorkLogs([log({ errors: [error] }), log({ checks: [passed] })]);
    expect(merged.errors).toEqual([{ ...error, fix: "a later change (it passed)" }]);
    const other = mergeWorkLogs([log({ errors: [error] }), log({ checks: [{ ...passed, text: "npm run lint" }] })]);
    expect(other.errors).toEqual([error]);
    const fixed = mergeWorkLogs([log({ errors: [error] }), log({ errors: [{ ...error, fix: "editing a.ts" }] })]);
    expect(fixed.errors).toEqual([{ ...error, fix: "editing a.ts" }]);
  });

  it("replace the todo list by a later one, not by none", () => {
    const first = [{ text: "Dredge", state: "active" as const }];
    const second = [{ text: "Paint", state: "pending" as const }];
    expect(mergeWorkLogs([log({ todos: first }), log({ todos: second })]).todos).toEqual(second);
    expect(mergeWorkLogs([log({ todos: first }), log({})]).todos).toEqual(first);
  });

  it("answer a question by the next request, and end the request before it", () => {
    const asked = log({
      requests: [{ text: "Move the bell", state: "continues" }],
      pending: [{ text: "question: Where to?" }],
    });
    expect(mergeWorkLogs([asked, log({ files: [file("a.ts", "edited")] })]).pending).toEqual(asked.pending);
    const answered = mergeWorkLogs([asked, log({ requests: [{ text: "To the pier", state: "continues" }] })]);
    expect(answered.pending).toEqual([]);
    expect(answered.requests).toEqual([{ text: "Move the bell" }, { text: "To the pier", state: "continues" }]);
  });

  it("say the same fact, event and reference once, and change none of their sources", () => {
    const one = log({
      facts: [{ text: "node 24" }],
      events: [{ text: "git push" }],
      references: [{ text: "PORT-1" }],
      errors: [{ text: "x", command: "make" }],
      checks: [{ text: "make", outcome: "passed", runs: 1 }],
    });
    const before = structuredClone(one);
    const merged = mergeWorkLogs([one, one]);
    expect(merged).toMatchObject({ facts: before.facts, events: before.events, references: before.references });
    expect(one).toEqual(before);
  });
});

import { describe, expect, it } from "vitest";
import { timeWriter } from "../../summary-text.ts";
import { writeBuiltIn } from "../built-in.ts";
import { checkSummary } from "../quality-guard.ts";
import { summariseWithFallback } from "../summarise-with-fallback.ts";
import { turnsText } from "../turns-text.ts";
import { findContradictions } from "./contradictions.ts";
import { readWorkLog } from "./read.ts";
import { WorkSession } from "./session.test-util.ts";

const { turns } = new WorkSession()
  .user("Sort the ferry timetable by departure and remove the rowboats, at most 250 lines.")
  .tool("Edit", { file_path: "src/timetable.ts", old_string: "a", new_string: "b" })
  .bash("git rm src/rowboat.ts", "rm 'src/rowboat.ts'")
  .bash("npm test", "Exit code 1\nTypeError: departure is undefined\nTests:  1 failed, 8 passed, 9 total", true)
  .assistant(
    `The timetable is sorted, but a test still fails. ${"The harbour stays calm and the ropes are dry. ".repeat(60)}`,
  );
const log = readWorkLog(turns, timeWriter());
const sources = turnsText(turns);
const good = [
  "Requests",
  "- Sort the ferry timetable by departure and remove the rowboats, at most 250 lines [msg#1]",
  "Done",
  "- edited src/timetable.ts [msg#2]",
  "- deleted src/rowboat.ts [msg#4]",
  "- ran npm test: failed (1 failed, 8 passed, 9 total) [msg#6]",
  "Open",
  "- the test of the departure still fails: TypeError: departure is undefined [msg#6]",
  "Expand for details about: the exact edit",
].join("\n");
const faultsOf = (content: string) => findContradictions(content, log, sources).join("\n");

describe("a summary by a model", () => {
  it("that is correct has no faults", () => {
    expect(faultsOf(good)).toBe("");
    expect(faultsOf(writeBuiltIn({ depth: 0, turns }, { targetTokens: 600 }))).toBe("");
  });

  it.each([
    ["an edited file was deleted", "edited src/timetable.ts", "deleted src/timetable.ts", "it was edited"],
    ["a deleted file was edited", "deleted src/rowboat.ts", "edited src/rowboat.ts", "it was deleted"],
    [
      "a file was changed that is named nowhere",
      "edited src/timetable.ts",
      "edited src/timetable.ts\n- created src/anchor.ts",
      "created src/anchor.ts",
    ],
    [
      "a failing test passed",
      "npm test: failed (1 failed, 8 passed, 9 total)",
      "npm test: passed",
      "npm test: passed (it failed)",
    ],
    ["a number is in the data that is not", "at most 250 lines", "at most 275 lines", "275"],
  ])("may not say that %s", (_name, before, after, fault) => {
    expect(good).toContain(before);
    expect(faultsOf(good.replace(before, after))).toContain(fault);
  });

  it("has to name the files that changed", () => {
    expect(faultsOf(good.replace("- edited src/timetable.ts [msg#2]\n", ""))).toContain("src/timetable.ts");
  });

  it("is refused by the guard, and a correct one is not", () => {
    const guard = (content: string) =>
      checkSummary({ content, sources, kind: "leaf", depth: 0, targetTokens: 300, inputTokens: 900, workLog: log });
    expect(guard(good)).toEqual({ ok: true, faults: [] });
    expect(guard(good.replace("npm test: failed", "npm test: passed")).faults.join()).toContain("ended otherwise");
    expect(guard("The timetable was sorted.\nFiles: none\nExpand for details about: x").faults.join()).toContain(
      "sections",
    );
  });

  it("that contradicts the transcript is told so once, and then the built-in log is taken", async () => {
    const asked: string[] = [];
    const wrong = good.replace("npm test: failed (1 failed, 8 passed, 9 total)", "npm test: passed");
    const answer =
      (content: string) =>
      async ({ user }: { user: string }) => {
        asked.push(user);
        return content;
      };
    const done = await summariseWithFallback({ depth: 0, turns }, { generate: answer(wrong) });
    expect(asked[1]).toContain("npm test: passed (it failed)");
    expect(done).toMatchObject({ level: "extractive", calls: 3 });
    expect(done.faults.join()).toContain("These commands ended otherwise");
    expect(done.content).toContain("- ran npm test: failed");
    expect(await summariseWithFallback({ depth: 0, turns }, { generate: answer(good) })).toMatchObject({
      level: "normal",
      content: good,
    });
  });
});

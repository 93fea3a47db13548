/** Varve in the real OpenClaw: the short form of `npm run drill:openclaw`. */
import { beforeAll, describe, expect, test } from "vitest";
import { type DrillReport, runDrill } from "../support/openclaw-drill.ts";

/** Absent only when `VARVE_TEST_SKIP=openclaw` asked for it, or the test is run without `npm test`. */
const program = process.env.VARVE_TEST_OPENCLAW;

describe.skipIf(program === undefined)("Varve as the context engine and memory of the real OpenClaw", () => {
  let report: DrillReport;

  beforeAll(async () => {
    report = await runDrill({ program: program as string, turns: 12, kills: 1, isWhole: true, say: () => undefined });
  });

  test("no turn fails, degrades or exceeds the window", () => {
    expect(report).toMatchObject({ failed: [], degraded: 0, refused: 0 });
  });

  test("a prompt that the model refuses as too long is shortened and sent again", () => {
    expect(report.refusedAsTooLong).toBeGreaterThan(0);
    expect(report.compaction).toBeGreaterThan(0);
  });

  test("every message is stored once, unchanged and in order, also around a kill and a failing store", () => {
    expect(report.records).toMatchObject({ sessions: 3, missing: [], doubled: [], changed: [], disordered: [] });
    expect(report.records.messages).toBeGreaterThan(40);
    expect(report.degradedByStore).toBe(1);
    expect(report.faults).toEqual([]);
  });

  test("a fact is known at the last turn; /new forgets the view and not the history", () => {
    expect(report.answer).toBe("The code is K-17.");
    expect(report.afterReset).toEqual([expect.stringContaining("Good evening.")]);
    expect(report.answerAfterReset).toBe("The code is K-17.");
  });

  test("a sub-agent belongs to the session that started it", () => {
    expect(report.subagentParent).toBe("agent:main:drill");
  });

  test("varve doctor knows that OpenClaw uses Varve, and a removal leaves no trace", () => {
    expect(report.doctor).toEqual(["ok   OpenClaw uses Varve, and every turn is stored"]);
    expect(report.isRestored).toBe(true);
  });
});

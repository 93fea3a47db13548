import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { benchContext } from "../context.ts";
import { run, type Scenario, user } from "./fixtures/scenario.test-util.ts";
import { webScenarios } from "./fixtures/web.test-util.ts";
import { printTranscript } from "./fixtures/wire.test-util.ts";

const silent = { onProgress: () => undefined };

/** A transcript whose beginning cannot stay in view: much reading after the work. */
function lengthen(scenario: Scenario): Scenario {
  const listing = Array.from({ length: 60 }, (_, at) => `line ${at} of a listing that nobody needs again`).join("\n");
  const reading = Array.from({ length: 40 }, (_, at) => run(`cat notes/${at}.txt`, listing));
  return { ...scenario, name: `${scenario.name}-long`, script: [...scenario.script, ...reading, user("summarise")] };
}

describe("the benchmark for work", () => {
  const data = mkdtempSync(join(tmpdir(), "varve-bench-work-test-"));

  beforeAll(() => {
    const folder = join(data, "sessions", "2026");
    mkdirSync(folder, { recursive: true });
    for (const scenario of webScenarios)
      writeFileSync(join(folder, `${scenario.name}.jsonl`), printTranscript(scenario));
    const dataset = join(data, "chats");
    mkdirSync(dataset);
    writeFileSync(join(dataset, "a.json"), JSON.stringify({ dataset: "chats", id: "a", turns: [], questions: [] }));
  });

  afterAll(() => rmSync(data, { recursive: true, force: true }));

  it("finds every item in a view that contains the whole conversation", async () => {
    const { work, datasets } = await benchContext({ data, only: ["work"], budgets: [64_000], ...silent });
    expect(datasets).toEqual({});
    expect(work).toMatchObject({ transcripts: webScenarios.length, compacted: { "64000": 0 }, skipped: [] });
    expect(work?.budgets["64000"]?.missing).toEqual([]);
    for (const [kind, shares] of Object.entries(work?.budgets["64000"]?.kinds ?? {})) {
      expect({ kind, ...shares }).toMatchObject({ kind, view: 1, window: 1, previous: 1 });
    }
  });

  it("names what a small view has lost, and says how much of the budget was used", async () => {
    const folder = join(data, "long");
    mkdirSync(folder);
    for (const scenario of webScenarios.map(lengthen)) {
      writeFileSync(join(folder, `${scenario.name}.jsonl`), printTranscript(scenario));
    }
    const { work } = await benchContext({ data: folder, budgets: [4_000], ...silent });
    const { kinds, missing, usedShare } = work?.budgets["4000"] ?? { kinds: {}, missing: [], usedShare: 0 };
    expect(work?.compacted).toEqual({ "4000": webScenarios.length });
    expect(usedShare).toBeGreaterThan(0);
    expect(kinds.files?.window).toBe(0);
    const lost = Object.values(kinds).reduce((sum, { view, count }) => sum + Math.round((1 - view) * count), 0);
    expect(missing).toHaveLength(lost);
  });

  it("measures transcripts only when they are asked for", async () => {
    expect(await benchContext({ data, only: ["chats"], budgets: [4_000], ...silent })).not.toHaveProperty("work");
  });
});

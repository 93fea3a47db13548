import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Entry, openVarve } from "../../index.ts";
import { dataScenarios } from "./fixtures/data.test-util.ts";
import { docsScenarios } from "./fixtures/docs.test-util.ts";
import { libraryScenarios } from "./fixtures/library.test-util.ts";
import { mixedScenarios } from "./fixtures/mixed.test-util.ts";
import { operationsScenarios } from "./fixtures/operations.test-util.ts";
import type { Labels, Scenario } from "./fixtures/scenario.test-util.ts";
import { webScenarios } from "./fixtures/web.test-util.ts";
import { printTranscript } from "./fixtures/wire.test-util.ts";
import { readWorkItems, type WorkItems } from "./work-items.ts";

const scenarios: readonly Scenario[] = [
  ...webScenarios,
  ...dataScenarios,
  ...operationsScenarios,
  ...libraryScenarios,
  ...docsScenarios,
  ...mixedScenarios,
];
const labelsMin = 50;
const shareMin = 0.95;

/** Labels and items as lines that can be compared. */
const labelLines: { [K in keyof Labels]: (labels: Labels) => string[] } = {
  files: (labels) => labels.files,
  todos: (labels) => labels.todos.map(([text, state]) => `${text}: ${state}`),
  commands: (labels) => labels.commands.map(([command, outcome]) => `${command}: ${outcome}`),
  lastChecks: (labels) => labels.lastChecks,
  requests: (labels) => labels.requests,
  errors: (labels) => labels.errors.map(([cause]) => cause),
  decisions: (labels) => labels.decisions,
  numbers: (labels) => labels.numbers,
  paths: (labels) => labels.paths,
  identifiers: (labels) => labels.identifiers,
};
const itemLines: { [K in keyof Labels]: (items: WorkItems, labels: Labels) => string[] } = {
  files: (items) => items.files.map((file) => file.path),
  todos: (items) => items.todos.map((todo) => `${todo.text}: ${todo.state}`),
  commands: (items) => items.commands.map((check) => `${check.command}: ${check.outcome}`),
  lastChecks: (items) => items.lastChecks.map((check) => check.command),
  requests: (items) => items.requests.map((request) => request.text),
  // An error counts only with the right fix.
  errors: (items, labels) => items.errors.map((error) => `${error.cause}${describeWrongFix(error, labels)}`),
  decisions: (items) => items.decisions.map((decision) => decision.text),
  numbers: (items) => items.numbers.map((number) => number.literal),
  paths: (items) => items.paths.map((path) => path.literal),
  identifiers: (items) => items.identifiers.map((identifier) => identifier.literal),
};

function describeWrongFix({ cause, fix }: WorkItems["errors"][number], labels: Labels): string {
  const mentions = [...(fix?.files ?? []), ...(fix?.commands ?? [])];
  const label = labels.errors.find(([labelled]) => labelled === cause);
  if (label === undefined) return "";
  const isRight = label[1] === undefined ? fix === undefined : mentions.some((one) => one.includes(label[1] ?? ""));
  return isRight ? "" : ` (wrong fix: ${mentions.join(", ") || "none"})`;
}

describe("the reader of work transcripts", () => {
  const home = mkdtempSync(join(tmpdir(), "varve-work-reader-"));
  const found = new Map<string, WorkItems>();

  beforeAll(async () => {
    const folder = join(home, "transcripts");
    mkdirSync(folder);
    for (const scenario of scenarios) writeFileSync(join(folder, `${scenario.name}.jsonl`), printTranscript(scenario));
    const varve = await openVarve({ home, background: false });
    const report = await varve.import([folder], {});
    expect(report).toMatchObject({ files: scenarios.length, sessions: scenarios.length, quarantined: 0 });
    for (const { name } of scenarios) {
      const entries: Entry[] = [];
      for await (const page of varve.transcripts.walk(await varve.sessions.get(name))) entries.push(...page);
      found.set(name, readWorkItems(entries));
    }
    await varve.close();
  });

  afterAll(() => rmSync(home, { recursive: true, force: true }));

  it.each(Object.keys(labelLines) as (keyof Labels)[])("agrees with the labels: %s", (kind) => {
    const missed: string[] = [];
    const wrong: string[] = [];
    let labelled = 0;
    let read = 0;
    for (const { name, labels } of scenarios) {
      const expected = labelLines[kind](labels);
      const items = found.get(name);
      const actual = items === undefined ? [] : itemLines[kind](items, labels);
      labelled += expected.length;
      read += actual.length;
      missed.push(...expected.filter((line) => !actual.includes(line)).map((line) => `${name}: ${line}`));
      wrong.push(...actual.filter((line) => !expected.includes(line)).map((line) => `${name}: ${line}`));
    }
    const recall = (labelled - missed.length) / labelled;
    const precision = (read - wrong.length) / read;
    const report = JSON.stringify({ labelled, read, recall, precision, missed, wrong }, null, 1);
    if (kind !== "lastChecks") expect(labelled, report).toBeGreaterThanOrEqual(labelsMin);
    expect(Math.min(recall, precision), report).toBeGreaterThanOrEqual(shareMin);
  });
});

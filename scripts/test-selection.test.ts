import { expect, test } from "vitest";
import { partNames, selectParts } from "./test-selection.ts";

test("without arguments every part runs", () => {
  expect(selectParts([], undefined)).toEqual({ parts: [...partNames], skippedParts: [], skippedResources: [] });
});

test("--only chooses parts, always in the same order", () => {
  expect(selectParts(["--only", "unit,types"], "").parts).toEqual(["types", "unit"]);
  expect(selectParts(["--only=crash"], undefined).parts).toEqual(["crash"]);
});

test("VARVE_TEST_SKIP leaves out parts and resources by name", () => {
  const selection = selectParts([], "postgres, crash");
  expect(selection.parts).not.toContain("crash");
  expect(selection.skippedParts).toEqual(["crash"]);
  expect(selection.skippedResources).toEqual(["postgres"]);
});

test("a part that was not chosen is not reported as skipped", () => {
  expect(selectParts(["--only", "unit"], "crash").skippedParts).toEqual([]);
});

test("an unknown name is an error that says what is allowed", () => {
  expect(() => selectParts(["--only", "units"], undefined)).toThrow(/"units".*lint, types/);
  expect(() => selectParts([], "postgre")).toThrow(/"postgre".*postgres, browser/);
  expect(() => selectParts(["unit"], undefined)).toThrow(/--only PART/);
  expect(() => selectParts(["--only"], undefined)).toThrow(/--only PART/);
  expect(() => selectParts(["--only", "unit", "types"], undefined)).toThrow(/--only PART/);
});

import type { CheckLine, ErrorLine } from "./work-log.ts";

/** Kinds of checks: a passing one ends the failures of its kind. */
const families: readonly RegExp[] = [
  /lint|eslint|biome|ruff|clippy/,
  /test|vitest|jest|spec/,
  /tsc|tsgo|types?\b|check|mypy|pyright/,
  /build|compile|make/,
];
/** So many other checks that passed later make a failure old news. */
const passesThatEndFailure = 3;
const editingTool = /^(?:edit|multiedit|write|apply_patch|str_replace\w*)\b/i;

function findFamily({ text }: CheckLine): number {
  return families.findIndex((pattern) => pattern.test(text));
}

/** The index of the last check of each kind, newest first. */
export function findLastChecks(checks: readonly CheckLine[]): number[] {
  const last = new Map<number, number>();
  for (const [index, check] of checks.entries()) last.set(findFamily(check), index);
  return [...last.values()].sort((a, b) => b - a);
}

/** The checks that still fail: no later check of the same kind passed, and not many others. */
export function findFailing(checks: readonly CheckLine[]): CheckLine[] {
  return checks.filter((check, index) => {
    if (check.outcome !== "failed") return false;
    const passed = checks.slice(index + 1).filter((later) => later.outcome === "passed");
    return passed.length < passesThatEndFailure && !passed.some((later) => findFamily(later) === findFamily(check));
  });
}

/** The indexes of errors without a fix since the last check that passed, unless an edit failed that was tried again. */
export function findOpenErrors(errors: readonly ErrorLine[], checks: readonly CheckLine[]): number[] {
  const passedAt = Math.max(0, ...checks.flatMap(({ outcome, seq }) => (outcome === "passed" ? [seq ?? 0] : [])));
  return errors.flatMap(({ fix, seq, command }, index) => {
    const isOpen = fix === undefined && (seq ?? Number.POSITIVE_INFINITY) > passedAt;
    return isOpen && !editingTool.test(command ?? "") ? [index] : [];
  });
}

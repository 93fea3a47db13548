import { isJsonObject, type JsonValue } from "../../domain/index.ts";

/**
 * The text of an item that is searched: the values at `paths`, or everything. A path is `title`, `meta.title`,
 * `chapters[*].text`, `authors[-1]`, `*`, `{title,body}` or `$` for everything.
 */
export function readItemText(value: JsonValue, paths: readonly string[] = ["$"]): string {
  return paths
    .flatMap((path) => (path === "$" || path === "" ? [value] : selectPath(value, path)))
    .map(print)
    .filter(Boolean)
    .join("\n");
}

/** Compares a field with a filter: a value, or comparisons such as `{ $gte: 3, $lt: 9 }`. */
export function matchesFilter(value: unknown, filter: unknown): boolean {
  if (!isComparison(filter)) return value === filter;
  return Object.entries(filter).every(([name, wanted]) => comparisons[name]?.(value, wanted) ?? false);
}

const comparisons: Readonly<Record<string, (value: unknown, wanted: unknown) => boolean>> = {
  $eq: (value, wanted) => value === wanted,
  $ne: (value, wanted) => value !== wanted,
  $gt: (value, wanted) => Number(value) > Number(wanted),
  $gte: (value, wanted) => Number(value) >= Number(wanted),
  $lt: (value, wanted) => Number(value) < Number(wanted),
  $lte: (value, wanted) => Number(value) <= Number(wanted),
  $in: (value, wanted) => Array.isArray(wanted) && wanted.includes(value),
  $nin: (value, wanted) => !Array.isArray(wanted) || !wanted.includes(value),
};

function isComparison(filter: unknown): filter is Record<string, unknown> {
  return (
    isJsonObject(filter) && Object.keys(filter).length > 0 && Object.keys(filter).every((name) => name in comparisons)
  );
}

/** `chapters[*].text` as `chapters`, `[*]`, `text`. */
function splitPath(path: string): string[] {
  return path.match(/\[[^[\]]*\]|\{[^{}]*\}|[^.[\]{}]+/g) ?? [];
}

/** A path that names nothing, such as `[`, selects nothing. */
function selectPath(value: JsonValue, path: string): JsonValue[] {
  const steps = splitPath(path);
  return steps.length === 0 ? [] : select(value, steps);
}

function select(value: JsonValue, [step, ...rest]: readonly string[]): JsonValue[] {
  if (step === undefined) return [value];
  if (step.startsWith("{")) {
    const fields = step.slice(1, -1).split(",");
    return fields.flatMap((field) => select(value, [...splitPath(field.trim()), ...rest]));
  }
  return selectStep(value, step).flatMap((one) => select(one, rest));
}

function selectStep(value: JsonValue, step: string): JsonValue[] {
  if (Array.isArray(value)) {
    if (step === "*" || step === "[*]") return value;
    const found = /^\[-?\d+\]$/.test(step) ? value.at(Number(step.slice(1, -1))) : undefined;
    return found === undefined ? [] : [found];
  }
  if (!isJsonObject(value)) return [];
  if (step === "*") return Object.values(value);
  const found = Object.hasOwn(value, step) ? value[step] : undefined;
  return found === undefined ? [] : [found];
}

/** The words of a value: field names help to find it. */
function print(value: JsonValue): string {
  if (value === null) return "";
  if (typeof value !== "object") return String(value);
  if (Array.isArray(value)) return value.map(print).filter(Boolean).join("\n");
  return Object.entries(value)
    .map(([name, one]) => `${name}: ${print(one)}`)
    .join("\n");
}

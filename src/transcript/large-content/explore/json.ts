import { describeKeys, describeShape, inferShape, mergeShapes, type Shape } from "./json-shape.ts";
import {
  type ExploredText,
  formatCount,
  formatNumber,
  formatSummary,
  type Section,
  splitLines,
} from "./summary-format.ts";

const sampleMax = 500;
const keyPattern = /"((?:[^"\\\n]|\\.){1,80})"\s*:/g;
/** Keys whose values tell the kind of a record. */
const kindKeys = ["type", "event", "kind", "role", "level", "status", "name"];
const kindValuesMax = 12;

export function looksLikeJson(start: string): boolean {
  const text = start.replace(/^\ufeff/, "").trimStart();
  return (
    /^\{\s*(?:"(?:[^"\\\n]|\\.){0,200}"\s*:|\}\s*$)/.test(text) ||
    /^\[\s*(?:[[{"]|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?\s*[,\]]|\]\s*$)/.test(text)
  );
}

/** Whether each of the first lines is a JSON value of its own. */
export function isJsonLines(start: string): boolean {
  const lines = start.replace(/^\ufeff/, "").split("\n", 12);
  // The last line of the sample may be truncated.
  const whole = lines.slice(0, -1).filter((line) => line.trim() !== "");
  if (whole.length < 2) return false;
  return whole.slice(0, 5).every((line) => /^\s*[{[]/.test(line) && parse(line).ok);
}

export function exploreJson(subject: ExploredText, isLines: boolean): string {
  if (isLines) return exploreLines(subject);
  const { text, isCut, extent } = subject;
  const parsed = isCut ? undefined : parse(text.replace(/^\ufeff/, ""));
  // Lines longer than the sample were not recognised as lines.
  if (!parsed?.ok && isJsonLines(text)) return exploreLines(subject);
  if (parsed === undefined) return formatSummary(`JSON, too large to be read whole: ${extent}`, listKeySections(text));
  if (!parsed.ok) {
    return formatSummary(`Broken JSON, ${extent}`, [
      { label: "Fault", items: [parsed.fault] },
      ...listKeySections(text),
    ]);
  }
  const shape = inferShape(parsed.value);
  return formatSummary(`JSON, ${describeTop(shape)}, ${extent}`, listShapeSections(shape));
}

function exploreLines(subject: ExploredText): string {
  const lines = splitLines(subject).filter((line) => line.trim() !== "");
  let broken = 0;
  const shapes: Shape[] = [];
  const values = new Map<string, Map<string, number>>();
  for (const line of lines) {
    const parsed = parse(line.replace(/^\ufeff/, ""));
    if (!parsed.ok) broken += 1;
    else {
      if (shapes.length < sampleMax) shapes.push(inferShape(parsed.value));
      countKinds(parsed.value, values);
    }
  }
  const faults = broken === 0 ? "" : `, ${formatNumber(broken)} of them broken`;
  const merged = mergeShapes(shapes);
  const sections = listShapeSections(merged);
  for (const [key, counts] of values) {
    if (counts.size > kindValuesMax) continue;
    const sorted = [...counts].sort((a, b) => b[1] - a[1]);
    sections.push({
      label: key,
      items: sorted.map(([value, times]) => `${value} ×${formatNumber(times)}`),
      weight: 0.4,
    });
  }
  const sampled = lines.length - broken > sampleMax ? ` (keys of the first ${sampleMax})` : "";
  return formatSummary(
    `JSON lines, ${formatCount(lines.length, "record")}${faults}${sampled}, ${subject.extent}`,
    sections,
  );
}

function countKinds(value: unknown, values: Map<string, Map<string, number>>): void {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return;
  for (const key of kindKeys) {
    const kind: unknown = Object.hasOwn(value, key) ? Reflect.get(value, key) : undefined;
    if (typeof kind !== "string" || kind.length > 60) continue;
    const counts = values.get(key) ?? new Map<string, number>();
    values.set(key, counts);
    // One value above the limit is enough to know that they do not enumerate kinds.
    if (counts.has(kind) || counts.size <= kindValuesMax) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
}

function describeTop(shape: Shape): string {
  if (shape.kind === "object") return `an object with ${formatCount(shape.keys.size, "key")}`;
  if (shape.kind === "array") return `an array of ${formatCount(shape.length, "element")}`;
  return `a single ${describeShape(shape, 0)}`;
}

function listShapeSections(shape: Shape): Section[] {
  const element = shape.kind === "array" ? shape.element : shape;
  const items = describeKeys(element);
  if (items.length > 0) return [{ label: shape.kind === "array" ? "Each element" : "Keys", items }];
  return shape.kind === "array" && element !== undefined
    ? [{ label: "Elements", items: [describeShape(element, 3)] }]
    : [];
}

/** For JSON that cannot be parsed: its keys, in order of appearance. */
function listKeySections(text: string): Section[] {
  const keys = new Map<string, number>();
  for (const [, key = ""] of text.matchAll(keyPattern)) {
    if (keys.has(key) || keys.size < 2_000) keys.set(key, (keys.get(key) ?? 0) + 1);
  }
  const items = [...keys].map(([key, times]) => (times > 1 ? `${key} ×${formatNumber(times)}` : key));
  return [{ label: "Keys seen", items, weight: 3 }];
}

function parse(text: string): { ok: true; value: unknown } | { ok: false; fault: string } {
  try {
    return { ok: true, value: JSON.parse(text) };
  } catch (error) {
    return { ok: false, fault: error instanceof Error ? error.message : String(error) };
  }
}

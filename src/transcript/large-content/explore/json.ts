import { count, counted, fit, type Section } from "./fit.ts";
import { describeShape, inferShape, mergeShapes, type Shape, topKeys } from "./json-shape.ts";
import { type Subject, splitLines } from "./subject.ts";

const sampleMax = 500;
const keyPattern = /"((?:[^"\\\n]|\\.){1,80})"\s*:/g;
/** Keys whose values say what kind of record a line is. */
const telling = ["type", "event", "kind", "role", "level", "status", "name"];
const tellingValuesMax = 12;

export function looksLikeJson(start: string): boolean {
  const text = start.replace(/^\ufeff/, "").trimStart();
  return (
    /^\{\s*(?:"(?:[^"\\\n]|\\.){0,200}"\s*:|\}\s*$)/.test(text) ||
    /^\[\s*(?:[[{"]|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?\s*[,\]]|\]\s*$)/.test(text)
  );
}

/** Whether the first lines are each a JSON object of its own. */
export function isJsonLines(start: string): boolean {
  const lines = start.replace(/^\ufeff/, "").split("\n", 12);
  // The last line may have been cut where the look ended.
  const whole = lines.slice(0, -1).filter((line) => line.trim() !== "");
  if (whole.length < 2) return false;
  return whole.slice(0, 5).every((line) => /^\s*[{[]/.test(line) && parse(line).ok);
}

export function exploreJson(subject: Subject, isLines: boolean): string {
  if (isLines) return exploreLines(subject);
  const { text, isCut, extent } = subject;
  const parsed = isCut ? undefined : parse(text.replace(/^\ufeff/, ""));
  // Lines longer than the first look were not seen to be lines.
  if (!parsed?.ok && isJsonLines(text)) return exploreLines(subject);
  if (parsed === undefined) return fit(`JSON, too large to be read whole: ${extent}`, keySections(text));
  if (!parsed.ok) {
    return fit(`Broken JSON, ${extent}`, [{ label: "Fault", items: [parsed.fault] }, ...keySections(text)]);
  }
  const shape = inferShape(parsed.value);
  return fit(`JSON, ${describeTop(shape)}, ${extent}`, shapeSections(shape));
}

function exploreLines(subject: Subject): string {
  const lines = splitLines(subject).filter((line) => line.trim() !== "");
  let broken = 0;
  const shapes: Shape[] = [];
  const values = new Map<string, Map<string, number>>();
  for (const line of lines) {
    const parsed = parse(line.replace(/^\ufeff/, ""));
    if (!parsed.ok) broken += 1;
    else {
      if (shapes.length < sampleMax) shapes.push(inferShape(parsed.value));
      countTelling(parsed.value, values);
    }
  }
  const faults = broken === 0 ? "" : `, ${count(broken)} of them broken`;
  const merged = mergeShapes(shapes);
  const sections = shapeSections(merged);
  for (const [key, counts] of values) {
    if (counts.size > tellingValuesMax) continue;
    const sorted = [...counts].sort((a, b) => b[1] - a[1]);
    sections.push({ label: key, items: sorted.map(([value, times]) => `${value} ×${count(times)}`), weight: 0.4 });
  }
  const sampled = lines.length - broken > sampleMax ? ` (keys of the first ${sampleMax})` : "";
  return fit(`JSON lines, ${counted(lines.length, "record")}${faults}${sampled}, ${subject.extent}`, sections);
}

function countTelling(value: unknown, values: Map<string, Map<string, number>>): void {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return;
  for (const key of telling) {
    const told: unknown = Object.hasOwn(value, key) ? Reflect.get(value, key) : undefined;
    if (typeof told !== "string" || told.length > 60) continue;
    const counts = values.get(key) ?? new Map<string, number>();
    values.set(key, counts);
    // One too many is enough to know that they do not tell kinds apart.
    if (counts.has(told) || counts.size <= tellingValuesMax) counts.set(told, (counts.get(told) ?? 0) + 1);
  }
}

function describeTop(shape: Shape): string {
  if (shape.kind === "object") return `an object with ${counted(shape.keys.size, "key")}`;
  if (shape.kind === "array") return `an array of ${counted(shape.length, "element")}`;
  return `a single ${describeShape(shape, 0)}`;
}

function shapeSections(shape: Shape): Section[] {
  const element = shape.kind === "array" ? shape.element : shape;
  const items = topKeys(element);
  if (items.length > 0) return [{ label: shape.kind === "array" ? "Each element" : "Keys", items }];
  return shape.kind === "array" && element !== undefined
    ? [{ label: "Elements", items: [describeShape(element, 3)] }]
    : [];
}

/** What can be said of JSON that cannot be parsed: its keys, in the order they come up. */
function keySections(text: string): Section[] {
  const keys = new Map<string, number>();
  for (const [, key = ""] of text.matchAll(keyPattern)) {
    if (keys.has(key) || keys.size < 2_000) keys.set(key, (keys.get(key) ?? 0) + 1);
  }
  const items = [...keys].map(([key, times]) => (times > 1 ? `${key} ×${count(times)}` : key));
  return [{ label: "Keys seen", items, weight: 3 }];
}

function parse(text: string): { ok: true; value: unknown } | { ok: false; fault: string } {
  try {
    return { ok: true, value: JSON.parse(text) };
  } catch (error) {
    return { ok: false, fault: error instanceof Error ? error.message : String(error) };
  }
}

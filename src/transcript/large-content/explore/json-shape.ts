import { formatNumber } from "./summary-format.ts";

/** The structure of a value: its types and keys, without its content. */
export type Shape =
  | { kind: "scalar"; types: ReadonlySet<string> }
  | { kind: "array"; length: number; element?: Shape }
  | { kind: "object"; keys: ReadonlyMap<string, Field> };

interface Field {
  shape: Shape;
  /** Whether every examined object has it. */
  isAlways: boolean;
}

/** Deeper levels do not fit a summary, and recursion must be bounded. */
const depthMax = 5;
const elementsMax = 100;
const keysMax = 300;
const datePattern = /^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d|$)/;

export function inferShape(value: unknown, depth = 0): Shape {
  if (Array.isArray(value)) {
    if (depth >= depthMax) return { kind: "array", length: value.length };
    const elements = value.slice(0, elementsMax).map((one) => inferShape(one, depth + 1));
    return { kind: "array", length: value.length, element: elements.length > 0 ? mergeShapes(elements) : undefined };
  }
  if (typeof value === "object" && value !== null) {
    const keys = new Map<string, Field>();
    const empty: Shape = { kind: "scalar", types: new Set(["…"]) };
    for (const [index, [key, inner]] of Object.entries(value).entries()) {
      const isLooked = depth < depthMax && index < keysMax;
      keys.set(key, { shape: isLooked ? inferShape(inner, depth + 1) : empty, isAlways: true });
    }
    return { kind: "object", keys };
  }
  return { kind: "scalar", types: new Set([scalarType(value)]) };
}

/** Merges the shapes of several values. Of different kinds, only the kinds are kept. */
export function mergeShapes(shapes: readonly Shape[]): Shape {
  const [first] = shapes;
  if (first === undefined) return { kind: "scalar", types: new Set() };
  if (shapes.every((shape) => shape.kind === "object")) return mergeObjects(shapes);
  if (shapes.every((shape) => shape.kind === "array")) {
    const elements = shapes.flatMap(({ element }) => element ?? []);
    const length = Math.max(...shapes.map((shape) => shape.length));
    return { kind: "array", length, element: elements.length > 0 ? mergeShapes(elements) : undefined };
  }
  const types = shapes.flatMap((shape) => (shape.kind === "scalar" ? [...shape.types] : [shape.kind]));
  return { kind: "scalar", types: new Set(types) };
}

function mergeObjects(shapes: readonly (Shape & { kind: "object" })[]): Shape {
  const fields = new Map<string, Field[]>();
  for (const { keys } of shapes) {
    for (const [key, field] of keys) {
      const same = fields.get(key);
      if (same !== undefined) same.push(field);
      else if (fields.size < keysMax) fields.set(key, [field]);
    }
  }
  const keys = new Map<string, Field>();
  for (const [key, same] of fields) {
    const isAlways = same.length === shapes.length && same.every((field) => field.isAlways);
    keys.set(key, { shape: mergeShapes(same.map(({ shape }) => shape)), isAlways });
  }
  return { kind: "object", keys };
}

/** Describes each key of an object: `name: string`, `tags?: array of 3 string`. */
export function describeKeys(shape: Shape | undefined): string[] {
  if (shape?.kind !== "object") return [];
  return [...shape.keys].map(([key, field]) => describeField(key, field, 2));
}

function describeField(key: string, { shape, isAlways }: Field, depth: number): string {
  return `${key.slice(0, 60)}${isAlways ? "" : "?"}: ${describeShape(shape, depth)}`;
}

export function describeShape(shape: Shape, depth: number): string {
  if (shape.kind === "scalar") return [...shape.types].join("|") || "unknown";
  if (shape.kind === "array") {
    const of = shape.element === undefined || depth === 0 ? "" : ` of ${describeShape(shape.element, depth - 1)}`;
    return `array[${formatNumber(shape.length)}]${of}`;
  }
  const names = [...shape.keys.keys()].slice(0, 8).map((key) => key.slice(0, 60) || '""');
  if (depth === 0 || names.length === 0) return `object(${formatKeyCount(shape.keys.size)})`;
  return `{${names.join(", ")}${shape.keys.size > names.length ? `, … ${formatNumber(shape.keys.size)} in all` : ""}}`;
}

function formatKeyCount(keys: number): string {
  return keys === 1 ? "1 key" : `${formatNumber(keys)} keys`;
}

function scalarType(value: unknown): string {
  if (value === null) return "null";
  if (typeof value === "string") return datePattern.test(value) ? "date" : "string";
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "number";
  return typeof value;
}

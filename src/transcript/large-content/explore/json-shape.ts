import { count } from "./fit.ts";

/** The form of a value: what it is made of, without what it says. */
export type Shape =
  | { kind: "scalar"; types: ReadonlySet<string> }
  | { kind: "array"; length: number; element?: Shape }
  | { kind: "object"; keys: ReadonlyMap<string, Field> };

interface Field {
  shape: Shape;
  /** Whether every object that was looked at has it. */
  isAlways: boolean;
}

/** Deeper than this nothing is looked at: a summary has no room for it, and the stack has an end. */
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

/** One form for many values. Where they are of different kinds, only the kinds are kept. */
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

/** `name: string`, `tags?: array of 3 string`, for each key of an object. */
export function topKeys(shape: Shape | undefined): string[] {
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
    return `array[${count(shape.length)}]${of}`;
  }
  const names = [...shape.keys.keys()].slice(0, 8).map((key) => key.slice(0, 60) || '""');
  if (depth === 0 || names.length === 0) return `object(${counted(shape.keys.size)})`;
  return `{${names.join(", ")}${shape.keys.size > names.length ? `, … ${count(shape.keys.size)} in all` : ""}}`;
}

function counted(keys: number): string {
  return keys === 1 ? "1 key" : `${count(keys)} keys`;
}

function scalarType(value: unknown): string {
  if (value === null) return "null";
  if (typeof value === "string") return datePattern.test(value) ? "date" : "string";
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "number";
  return typeof value;
}

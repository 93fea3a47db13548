import { z } from "zod";
import { configSchema } from "./schema.ts";
import { secrets } from "./secrets.ts";

/** One setting: a leaf of the schema. Lists and mappings are leaves too, set as a whole. */
export interface Setting {
  /** `session.dmScope` */
  key: string;
  path: readonly string[];
  /** `VARVE_SESSION_DM_SCOPE` */
  variable: string;
  description: string;
  schema: z.ZodType;
  /** Computed on access: looking up the time zone takes as long as everything else here. */
  readonly defaultValue: unknown;
  /** For values that contain secrets: how to display them. */
  mask?: (value: unknown) => unknown;
}

/** Every setting, in schema order. */
export const settings: readonly Setting[] = collectSettings(configSchema, []);

const byKey = new Map(settings.map((setting) => [setting.key, setting]));

export function findSetting(key: string): Setting | undefined {
  return byKey.get(key);
}

/** The setting at a path or containing it: `gateway.tokens` for `gateway`, `tokens`, `0`, `name`. */
export function findContainingSetting(path: readonly PropertyKey[]): Setting | undefined {
  for (let length = path.length; length > 0; length -= 1) {
    const setting = byKey.get(path.slice(0, length).map(String).join("."));
    if (setting !== undefined) return setting;
  }
  return undefined;
}

/** The schema at a path through sections, lists and mappings; `undefined` when there is none. */
export function findSchema(path: readonly PropertyKey[], from: z.ZodType = configSchema): z.ZodType | undefined {
  let schema: unknown = from;
  for (const step of path) {
    const inner = unwrap(schema);
    if (inner instanceof z.ZodObject) schema = Object.hasOwn(inner.shape, step) ? inner.shape[String(step)] : undefined;
    else if (inner instanceof z.ZodArray) schema = inner.element;
    else if (inner instanceof z.ZodRecord) schema = inner.valueType;
    else return undefined;
  }
  return schema instanceof z.ZodType ? schema : undefined;
}

/** Removes default and optional wrappers from a schema. */
export function unwrap(schema: unknown): unknown {
  let inner = schema;
  while (inner instanceof z.ZodDefault || inner instanceof z.ZodPrefault || inner instanceof z.ZodOptional) {
    inner = inner.unwrap();
  }
  return inner;
}

function collectSettings(section: z.ZodObject, path: readonly string[]): Setting[] {
  return Object.entries(section.shape).flatMap(([name, schema]) => {
    if (!(schema instanceof z.ZodType)) return [];
    const here = [...path, name];
    const inner = schema instanceof z.ZodPrefault ? schema.unwrap() : undefined;
    return inner instanceof z.ZodObject ? collectSettings(inner, here) : [describeSetting(schema, here)];
  });
}

function describeSetting(schema: z.ZodType, path: readonly string[]): Setting {
  return {
    key: path.join("."),
    path,
    variable: toVariable(path),
    description: schema.description ?? "",
    schema,
    get defaultValue() {
      return schema.parse(undefined);
    },
    mask: secrets.get(schema)?.mask,
  };
}

/** The environment variable of a key: `VARVE_SESSION_DM_SCOPE` for `session.dmScope`. */
export function toVariable(path: readonly string[]): string {
  return `VARVE_${path.map(toUpperSnake).join("_")}`;
}

function toUpperSnake(name: string): string {
  return name
    .replace("MiB", "Mib")
    .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
    .toUpperCase();
}

/** The most similar name, if it is similar enough to be a suggestion. */
export function findNearestName(given: string, names: Iterable<string>): string | undefined {
  const wanted = given.toLowerCase();
  let best: string | undefined;
  let bestDistance = Math.max(1, Math.floor(given.length / 3)) + 1;
  for (const name of names) {
    const distance = editDistance(wanted, name.toLowerCase(), bestDistance);
    if (distance < bestDistance) [best, bestDistance] = [name, distance];
  }
  return best;
}

/** The number of insertions, deletions, substitutions and transpositions; `limit` when it is at least that. */
function editDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) >= limit || a.length > 200) return limit;
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1;
      let least = Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (last[j - 1] ?? 0) + cost);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        least = Math.min(least, (beforeLast[j - 2] ?? 0) + 1);
      }
      row.push(least);
    }
    [beforeLast, last] = [last, row];
  }
  return last[b.length] ?? limit;
}

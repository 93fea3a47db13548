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
  /** Made when it is asked for: the time zone's takes as long as everything else here. */
  readonly defaultValue: unknown;
  /** Present when the value holds a secret: how it is shown. */
  mask?: (value: unknown) => unknown;
}

/** Every setting, in the order of the schema. */
export const settings: readonly Setting[] = collect(configSchema, []);

const byKey = new Map(settings.map((setting) => [setting.key, setting]));

export function findSetting(key: string): Setting | undefined {
  return byKey.get(key);
}

/** The setting that a path leads to or into: `gateway.tokens` for `gateway`, `tokens`, `0`, `name`. */
export function settingAt(path: readonly PropertyKey[]): Setting | undefined {
  for (let length = path.length; length > 0; length -= 1) {
    const setting = byKey.get(path.slice(0, length).map(String).join("."));
    if (setting !== undefined) return setting;
  }
  return undefined;
}

/** The schema a path leads to, through sections, lists and mappings; `undefined` when it leads nowhere. */
export function schemaAt(path: readonly PropertyKey[], from: z.ZodType = configSchema): z.ZodType | undefined {
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

/** What a schema holds when it is given: without its default and its being optional. */
export function unwrap(schema: unknown): unknown {
  let inner = schema;
  while (inner instanceof z.ZodDefault || inner instanceof z.ZodPrefault || inner instanceof z.ZodOptional) {
    inner = inner.unwrap();
  }
  return inner;
}

function collect(section: z.ZodObject, path: readonly string[]): Setting[] {
  return Object.entries(section.shape).flatMap(([name, schema]) => {
    if (!(schema instanceof z.ZodType)) return [];
    const here = [...path, name];
    const inner = schema instanceof z.ZodPrefault ? schema.unwrap() : undefined;
    return inner instanceof z.ZodObject ? collect(inner, here) : [describeSetting(schema, here)];
  });
}

function describeSetting(schema: z.ZodType, path: readonly string[]): Setting {
  return {
    key: path.join("."),
    path,
    variable: `VARVE_${path.map(upperSnake).join("_")}`,
    description: schema.description ?? "",
    schema,
    get defaultValue() {
      return schema.parse(undefined);
    },
    mask: secrets.get(schema)?.mask,
  };
}

function upperSnake(name: string): string {
  return name
    .replace("MiB", "Mib")
    .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
    .toUpperCase();
}

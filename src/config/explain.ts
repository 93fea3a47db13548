import { z } from "zod";
import type { ConfigFault, ConfigSource } from "./faults.ts";
import { configSchema, parseOnce } from "./schema.ts";
import { findContainingSetting, findNearestName, findSchema, settings, unwrap } from "./settings.ts";

const shownMax = 80;

/** Explains what is wrong with a tree of settings; empty when it is valid. `findSource` tells where a path was set. */
export function explainFaults(
  values: unknown,
  findSource: (path: readonly PropertyKey[]) => ConfigSource,
): ConfigFault[] {
  const { error } = configSchema.safeParse(values, parseOnce);
  return (error?.issues ?? []).flatMap((issue) => {
    if (issue.code === "unrecognized_keys") {
      return issue.keys.map((name) => {
        const path = [...issue.path, name];
        return { key: printPath(path), source: findSource(path), message: explainUnknownKey(issue.path, name) };
      });
    }
    const key = findContainingSetting(issue.path)?.key ?? printPath(issue.path);
    return [{ key, source: findSource(issue.path), message: explainWrongValue(issue, values) }];
  });
}

/** `gateway.tokens[0].name` */
export function printPath(path: readonly PropertyKey[]): string {
  const parts = path.map((step) => (typeof step === "number" ? `[${step}]` : `.${String(step)}`));
  return parts.join("").replace(/^\./, "");
}

function explainUnknownKey(path: readonly PropertyKey[], name: string): string {
  const meant = suggestKey(path, name);
  const isInsideSetting = findContainingSetting(path) !== undefined;
  const fault = `${printPath([...path, name])} is not ${isInsideSetting ? "known here" : "a setting"}.`;
  return meant === undefined ? fault : `${fault} Did you mean ${meant}?`;
}

/**
 * Suggests the same name here or in another section, ignoring case; else a similar name here, else any similar setting.
 */
function suggestKey(path: readonly PropertyKey[], name: string): string | undefined {
  const container = unwrap(findSchema(path));
  const neighbours = container instanceof z.ZodObject ? Object.keys(container.shape) : [];
  const isSame = (other: string | undefined) => other?.toLowerCase() === name.toLowerCase();
  const isInsideSetting = findContainingSetting(path) !== undefined;
  const elsewhere = isInsideSetting ? undefined : settings.find((setting) => isSame(setting.path.at(-1)));
  const neighbour =
    neighbours.find(isSame) ?? (elsewhere === undefined ? findNearestName(name, neighbours) : undefined);
  if (neighbour !== undefined) return printPath([...path, neighbour]);
  if (isInsideSetting) return undefined;
  const keys = settings.map(({ key }) => key);
  return elsewhere?.key ?? findNearestName(printPath([...path, name]), keys);
}

function explainWrongValue(issue: z.core.$ZodIssue, values: unknown): string {
  if (issue.code === "invalid_key")
    return `The name ${printPath(issue.path)} ${issue.issues[0]?.message ?? "is invalid"}.`;
  const given = getValue(values, issue.path);
  const rule = describeRule(issue);
  if (given === undefined) return `${printPath(issue.path)} is missing: it ${rule}.`;
  const wasUnquoted = issue.code === "invalid_type" && issue.expected === "string" && typeof given !== "object";
  return `${printPath(issue.path)} ${rule}; got ${showValue(given, issue.path)}${wasUnquoted ? ", which needs quotes" : ""}.`;
}

/** Rules with their own wording have it in the schema; for others it is derived from the schema. */
function describeRule(issue: z.core.$ZodIssue): string {
  if (issue.code === "invalid_format" || issue.code === "custom") return issue.message;
  const schema = findSchema(issue.path);
  return schema === undefined ? `is invalid (${issue.message})` : `must be ${describeAllowed(schema)}`;
}

/** The values that a schema allows, to complete "must be …". */
function describeAllowed(schema: z.ZodType): string {
  return describeForm(z.toJSONSchema(schema, { io: "input", unrepresentable: "any" }));
}

function describeForm(form: z.core.JSONSchema.JSONSchema | boolean | undefined): string {
  if (typeof form !== "object") return "anything";
  if (form.enum !== undefined) return `one of ${form.enum.join(", ")}`;
  if (form.anyOf !== undefined) return form.anyOf.map(describeForm).join(", or ");
  if (form.type === "boolean") return "true or false";
  if (form.type === "integer") return `a whole number${describeRange(form.minimum, form.maximum)}`;
  if (form.type === "number") return `a number${describeRange(form.minimum, form.maximum)}`;
  if (form.type === "string")
    return form.maxLength === undefined ? "text" : `text of at most ${form.maxLength} characters`;
  if (form.type === "array") {
    const items = Array.isArray(form.items) ? form.items[0] : form.items;
    return `a list${form.minItems ? ` of at least ${form.minItems}` : ""}, each entry ${describeForm(items)}`;
  }
  if (form.properties !== undefined) return `a mapping with ${Object.keys(form.properties).join(", ")}`;
  return `a mapping of names, each to ${describeForm(form.additionalProperties)}`;
}

function describeRange(least: number | undefined, most: number | undefined): string {
  const hasLeast = least !== undefined && least > Number.MIN_SAFE_INTEGER;
  const hasMost = most !== undefined && most < Number.MAX_SAFE_INTEGER;
  if (hasLeast && hasMost) return ` from ${least} to ${most}`;
  if (hasLeast) return `, at least ${least}`;
  return hasMost ? `, at most ${most}` : "";
}

/** An invalid secret is still a secret. */
function showValue(value: unknown, path: readonly PropertyKey[]): string {
  const setting = findContainingSetting(path);
  const isWhole = setting?.path.length === path.length;
  if (setting?.mask !== undefined && !isWhole) return "a value that is not shown";
  const text = JSON.stringify(setting?.mask === undefined ? value : setting.mask(value)) ?? String(value);
  return text.length > shownMax ? `${text.slice(0, shownMax)}… (${text.length} characters)` : text;
}

export function getValue(values: unknown, path: readonly PropertyKey[]): unknown {
  let value = values;
  for (const step of path) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, step)) return undefined;
    value = Reflect.get(value, step);
  }
  return value;
}

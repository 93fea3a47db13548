import { z } from "zod";
import { isJsonObject, type JsonObject, type JsonValue } from "../domain/index.ts";

/** The keywords of a schema that a model needs to form a call; a wrong value is answered with what to send instead. */
const neededKeywords = new Set(["type", "properties", "required", "items", "enum", "anyOf", "oneOf", "description"]);
const plainTypes = new Set(["boolean", "integer", "number"]);
/** A longer description of a parameter ends after its first part. */
const parameterCharsMax = 40;
const toolCharsMax = 100;

const schemas = new WeakMap<z.ZodType, JsonObject>();

/** A tool for a prompt. The schema never changes, and creating it is most of the cost of offering a tool. */
export function describeCompactly({ description, input }: { description: string; input: z.ZodType }): {
  description: string;
  input: JsonObject;
} {
  const known = schemas.get(input) ?? compactSchema(z.toJSONSchema(input, { io: "input" }) as JsonObject);
  schemas.set(input, known);
  return { description: compactDescription(description), input: known };
}

/**
 * A tool's schema in a form that costs few tokens in every prompt: limits, defaults and what the name of a parameter says
 * already are left out. All parameters stay.
 */
export function compactSchema(schema: JsonObject): JsonObject {
  const required = new Set(Array.isArray(schema.required) ? schema.required : []);
  const kept = Object.entries(schema).filter(([keyword]) => neededKeywords.has(keyword));
  return Object.fromEntries(
    kept.map(([keyword, value]): [string, JsonValue] => {
      if (keyword !== "properties" || !isJsonObject(value)) return [keyword, value];
      const properties = Object.entries(value).map(([name, one]): [string, JsonValue] => [
        name,
        isJsonObject(one) ? compactParameter(one, required.has(name)) : one,
      ]);
      return [keyword, Object.fromEntries(properties)];
    }),
  );
}

/** The name and the possible values say enough of an optional number, switch or choice. */
function compactParameter(schema: JsonObject, isRequired: boolean): JsonObject {
  const { description, anyOf, items, ...rest } = schema;
  const kept: JsonObject = Object.fromEntries(Object.entries(rest).filter(([keyword]) => neededKeywords.has(keyword)));
  if (isJsonObject(items)) kept.items = compactParameter(items, false);
  // Where a parameter takes text or a number, text is enough.
  if (Array.isArray(anyOf) || Array.isArray(kept.type)) kept.type = "string";
  const isPlain = !isRequired && (kept.enum !== undefined || plainTypes.has(String(kept.type)));
  if (typeof description === "string" && !isPlain) kept.description = shorten(description, parameterCharsMax);
  return kept;
}

/** The description of a tool, shortened to its first sentences. */
export function compactDescription(text: string): string {
  return shorten(text, toolCharsMax);
}

/** The first sentences, or the first part of the first one, that fit. */
function shorten(whole: string, charsMax: number): string {
  if (whole.length <= charsMax) return whole;
  const text = whole
    .replaceAll(/(?<!\s)\s*\([^()]*\)/g, "")
    .replace(/(?<!\s)\s*\(.*$/s, "")
    .trim();
  if (text.length <= charsMax) return text;
  const ends = [...text.matchAll(/[.;:](?=\s)|,(?=\s)/g)].map(({ index }) => index);
  const sentence = ends.filter((at) => text[at] === "." && at < charsMax).at(-1);
  if (sentence !== undefined) return text.slice(0, sentence + 1);
  const part = ends.filter((at) => at < charsMax).at(-1);
  return part === undefined ? text.slice(0, text.lastIndexOf(" ", charsMax)) : text.slice(0, part);
}

import { z } from "zod";
import { isJsonObject } from "../domain/index.ts";
import type { ConfigFault, ConfigSource } from "./faults.ts";
import { configSchema } from "./schema.ts";

/** The settings of one source, as a tree, with what is known to be wrong before the schema has seen them. */
export interface Layer {
  values: Record<string, unknown>;
  faults: ConfigFault[];
  sourceOf(path: readonly PropertyKey[]): ConfigSource;
}

/** What a program sets: above everything else. */
export function optionLayer(overrides: object): Layer {
  return { values: dropUnset(overrides), faults: [], sourceOf: () => ({ kind: "option" }) };
}

/** A setting that is null or undefined is not set, so a key can stand in the file with nothing behind it. */
export function dropUnset(values: object, section: z.ZodObject = configSchema): Record<string, unknown> {
  const kept: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(values)) {
    if (value === null || value === undefined) continue;
    const schema = Object.hasOwn(section.shape, name) ? section.shape[name] : undefined;
    const inner = schema instanceof z.ZodPrefault ? schema.unwrap() : undefined;
    const isSection = inner instanceof z.ZodObject && isJsonObject(value);
    Object.defineProperty(kept, name, {
      value: isSection ? dropUnset(value, inner) : value,
      enumerable: true,
      configurable: true,
      writable: true,
    });
  }
  return kept;
}

/** Sets a value in a tree, with the branches that lead to it. */
export function setAt(values: Record<string, unknown>, path: readonly string[], value: unknown): void {
  const [name, ...rest] = path;
  if (name === undefined) return;
  if (rest.length === 0) {
    values[name] = value;
    return;
  }
  const branch = isJsonObject(values[name]) ? values[name] : {};
  values[name] = branch;
  setAt(branch, rest, value);
}

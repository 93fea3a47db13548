import { z } from "zod";
import { isJsonObject } from "../domain/index.ts";
import type { ConfigFault, ConfigSource } from "./faults.ts";
import { configSchema } from "./schema.ts";

/** The settings of one source as a tree, with the faults and warnings found before validation. */
export interface ConfigLayer {
  values: Record<string, unknown>;
  faults: ConfigFault[];
  warnings: ConfigFault[];
  findSource(path: readonly PropertyKey[]): ConfigSource;
}

/** Values set by the program; they take precedence over everything else. */
export function createOptionLayer(overrides: object): ConfigLayer {
  return { values: dropUnset(overrides), faults: [], warnings: [], findSource: () => ({ kind: "option" }) };
}

/** Drops null and undefined settings, so that a key in the file may be left empty. */
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

/** Sets a value in a tree, creating sections as needed. */
export function setValue(values: Record<string, unknown>, path: readonly string[], value: unknown): void {
  const [name, ...rest] = path;
  if (name === undefined) return;
  if (rest.length === 0) {
    values[name] = value;
    return;
  }
  const branch = isJsonObject(values[name]) ? values[name] : {};
  values[name] = branch;
  setValue(branch, rest, value);
}

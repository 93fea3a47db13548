import { getValue } from "./explain.ts";
import type { ConfigFault } from "./faults.ts";
import { type ConfigLayer, setValue } from "./layer.ts";
import { findSetting, toVariable } from "./settings.ts";

export interface MovedSetting {
  from: string;
  /** The new key; absent for a setting that became a constant. */
  to?: string;
}

/** Old keys stay valid: a moved value is used, a removed one is ignored, and both give a warning. */
export const movedSettings: readonly MovedSetting[] = [
  { from: "context.circuitBreakerThreshold", to: "advanced.models.circuitBreakerThreshold" },
  { from: "context.circuitBreakerCooldownMs", to: "advanced.models.circuitBreakerCooldownMs" },
  { from: "redact", to: "redact.exports" },
  { from: "context.compactUntilUnderRounds" },
  { from: "search.followMs" },
];

/** Moves the values of old keys in a layer to their new keys. */
export function applyMoves(layer: ConfigLayer): ConfigLayer {
  const origins = new Map<string, readonly string[]>();
  const warnings: ConfigFault[] = [...layer.warnings];
  for (const { from, to } of movedSettings) {
    const path = from.split(".");
    const value = getValue(layer.values, path);
    // A setting that became a section is the old one only while it has a value of its own.
    if (value === undefined || (to?.startsWith(`${from}.`) && typeof value === "object")) continue;
    const source = layer.findSource(path);
    removeValue(layer.values, path);
    if (to === undefined) {
      warnings.push({ key: from, source, message: `${from} has no effect: it is a constant now. Remove it.` });
      continue;
    }
    const target = to.split(".");
    if (getValue(layer.values, target) !== undefined) {
      warnings.push({ key: from, source, message: `${from} is ignored, because ${to} is set too. Remove it.` });
      continue;
    }
    setValue(layer.values, target, value);
    origins.set(to, path);
    const name = source.kind === "env" ? (findSetting(to)?.variable ?? to) : to;
    warnings.push({ key: from, source, message: `${from} has moved. Its value is used; rename it to ${name}.` });
  }
  return { ...layer, warnings, findSource: (path) => layer.findSource(findOrigin(origins, path) ?? path) };
}

/** The moved settings by their old variable. */
export function listMovedVariables(): Map<string, MovedSetting> {
  return new Map(movedSettings.map((setting) => [toVariable(setting.from.split(".")), setting]));
}

function findOrigin(
  origins: ReadonlyMap<string, readonly string[]>,
  path: readonly PropertyKey[],
): readonly string[] | undefined {
  for (const [to, from] of origins) {
    const key = path.map(String).join(".");
    if (key === to || key.startsWith(`${to}.`)) return from;
  }
  return undefined;
}

function removeValue(values: Record<string, unknown>, path: readonly string[]): void {
  const parent = getValue(values, path.slice(0, -1));
  const last = path.at(-1);
  if (typeof parent === "object" && parent !== null && last !== undefined) Reflect.deleteProperty(parent, last);
}

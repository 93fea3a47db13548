import { parseDocument } from "yaml";
import { z } from "zod";
import { VarveError } from "../domain/index.ts";
import type { ConfigFault } from "./faults.ts";
import { type ConfigLayer, setValue } from "./layer.ts";
import { listMovedVariables } from "./moved-settings.ts";
import { findContainingSetting, findNearestName, findSetting, settings, toVariable, unwrap } from "./settings.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

const prefix = "VARVE_";
/** Variables that are not settings: the home folder, and those of clients and tests. */
const otherVariables = ["VARVE_HOME", "VARVE_TRANSCRIPTS", "VARVE_TOKEN", "VARVE_URL", "VARVE_HOOK"];
const testPrefix = "VARVE_TEST_";

/** Reads settings from `VARVE_*` variables. An empty variable counts as not set. */
export function readEnvLayer(env: Environment): ConfigLayer {
  const byVariable = new Map(settings.map((setting) => [setting.variable, setting]));
  const values: Record<string, unknown> = {};
  const moved = listMovedVariables();
  const faults: ConfigFault[] = [];
  const warnings: ConfigFault[] = [];
  for (const [variable, text] of Object.entries(env)) {
    if (!variable.startsWith(prefix) || variable.startsWith(testPrefix) || otherVariables.includes(variable)) continue;
    const source = { kind: "env", variable } as const;
    const old = moved.get(variable);
    const setting = byVariable.get(variable) ?? (old?.to === undefined ? undefined : findSetting(old.to));
    if (setting === undefined && old === undefined) {
      const meant = findNearestName(variable, [...byVariable.keys(), ...otherVariables]);
      const suggestion = meant === undefined ? "" : ` Did you mean ${meant}?`;
      warnings.push({ source, message: `no setting has this variable, so it has no effect.${suggestion}` });
    } else if (text !== undefined && text !== "") {
      const key = old?.from ?? setting?.key ?? "";
      try {
        setValue(values, key.split("."), setting === undefined ? text : parseValue(setting.schema, text));
      } catch (error) {
        const message = error instanceof Error ? error.message : String(error);
        faults.push({ key, source, message: `${key} cannot be read: ${message}` });
      }
    }
  }
  const findSource = (path: readonly PropertyKey[]) =>
    ({ kind: "env", variable: findContainingSetting(path)?.variable ?? toVariable(path.map(String)) }) as const;
  return { values, faults, warnings, findSource };
}

/**
 * Parses a value typed by a person: text settings are taken literally, everything else is YAML (which includes JSON).
 */
export function parseValue(schema: z.ZodType, text: string): unknown {
  const inner = unwrap(schema);
  if (inner instanceof z.ZodString || inner instanceof z.ZodEnum) return text;
  const document = parseDocument(text, { prettyErrors: false });
  const [fault] = document.errors;
  if (fault !== undefined) {
    throw new VarveError("BAD_CONFIG", `it is neither JSON nor YAML (${fault.message})`, {
      remedy: "Write lists as [a, b] and mappings as {name: value}.",
    });
  }
  return document.toJS();
}

import { parseDocument } from "yaml";
import { z } from "zod";
import { VarveError } from "../domain/index.ts";
import type { ConfigFault } from "./faults.ts";
import { type Layer, setAt } from "./layer.ts";
import { nearestName } from "./nearest.ts";
import { settingAt, settings, unwrap } from "./settings.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

const prefix = "VARVE_";
/** Variables that are not settings: where to find them, what clients and tests use. */
const otherVariables = ["VARVE_HOME", "VARVE_TRANSCRIPTS", "VARVE_TOKEN", "VARVE_URL"];
const testPrefix = "VARVE_TEST_";

/** The settings in `VARVE_*` variables. An empty variable is one that is not set: shells make no other kind easily. */
export function envLayer(env: Environment): Layer {
  const byVariable = new Map(settings.map((setting) => [setting.variable, setting]));
  const values: Record<string, unknown> = {};
  const faults: ConfigFault[] = [];
  for (const [variable, text] of Object.entries(env)) {
    if (!variable.startsWith(prefix) || variable.startsWith(testPrefix) || otherVariables.includes(variable)) continue;
    const source = { kind: "env", variable } as const;
    const setting = byVariable.get(variable);
    if (setting === undefined) {
      const meant = nearestName(variable, [...byVariable.keys(), ...otherVariables]);
      const suggestion = meant === undefined ? "" : ` Did you mean ${meant}?`;
      faults.push({ source, message: `no setting has this variable.${suggestion}` });
    } else if (text !== undefined && text !== "") {
      try {
        setAt(values, setting.path, readText(setting.schema, text));
      } catch (error) {
        const message = error instanceof Error ? error.message : String(error);
        faults.push({ key: setting.key, source, message: `${setting.key} cannot be read: ${message}` });
      }
    }
  }
  const sourceOf = (path: readonly PropertyKey[]) =>
    ({ kind: "env", variable: settingAt(path)?.variable ?? prefix }) as const;
  return { values, faults, sourceOf };
}

/** A value as people type it: text stays what it is, everything else is YAML, which JSON is a part of. */
export function readText(schema: z.ZodType, text: string): unknown {
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

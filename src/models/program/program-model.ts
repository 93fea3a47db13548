import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Environment } from "../../config/index.ts";
import type { DailyCap, GeneratedText, GenerateRequest, NamedModel } from "../generate.ts";
import { claudeKind } from "./claude-model.ts";
import { codexKind } from "./codex-model.ts";
import { runProcess } from "./process.ts";
import type { ProgramKind } from "./program-kind.ts";

/** Installed programs that can be named as a model: `claude-cli`, or `claude-cli/haiku` with a model of their own. */
export const programNames = ["claude-cli", "codex-cli"] as const;
export type ProgramName = (typeof programNames)[number];

const kinds: Readonly<Record<ProgramName, ProgramKind>> = { "claude-cli": claudeKind, "codex-cli": codexKind };

export interface ProgramSettings {
  program: string;
  /** Additional arguments. */
  args: readonly string[];
  /** The maximum calls a day, over all purposes and models of the program. */
  dailyCalls: number;
}

export interface ProgramSources {
  programs: Readonly<Record<ProgramName, ProgramSettings>>;
  timeZone: string;
  env: Environment;
}

/** More than any useful answer, with the events around it. */
const outputMax = 8 * 1024 * 1024;

/** The program that a model's name refers to, and the model it should use; undefined for a model of a provider. */
export function parseProgramName(name: string): { program: ProgramName; model?: string } | undefined {
  const slash = name.indexOf("/");
  const first = slash < 0 ? name : name.slice(0, slash);
  const program = programNames.find((one) => one === first);
  if (program === undefined) return undefined;
  return slash < 0 ? { program } : { program, model: name.slice(slash + 1) };
}

/** A model that starts an installed program for each call. */
export function openProgramModel(
  name: string,
  { program, model }: { program: ProgramName; model?: string },
  { programs, timeZone, env }: ProgramSources,
): NamedModel {
  const settings = programs[program];
  const dailyCap: DailyCap = { name: program, callsMax: settings.dailyCalls, timeZone };
  return { name, dailyCap, call: (request) => callProgram(kinds[program], settings, env, request, model) };
}

async function callProgram(
  kind: ProgramKind,
  settings: ProgramSettings,
  env: Environment,
  { system, user, signal }: GenerateRequest,
  model: string | undefined,
): Promise<GeneratedText> {
  const folder = await mkdtemp(join(tmpdir(), "varve-program-"));
  try {
    const run = kind.describeRun({ system, user, model, folder, env });
    const cwd = join(folder, "empty");
    await mkdir(cwd);
    for (const [file, text] of Object.entries(run.files ?? {})) {
      await writeFile(join(folder, file), text, { mode: 0o600 });
    }
    const result = await runProcess({
      program: settings.program,
      args: [...run.args, ...settings.args, ...(run.lastArgs ?? [])],
      input: run.input,
      cwd,
      // Hooks of Varve that the program still runs do nothing: this call is not a conversation.
      env: { ...env, ...run.env, VARVE_HOOK: "off" },
      signal,
      outputMax,
      remedy: `Install it with \`${kind.install}\`, set ${kind.setting}.program to its path, or choose another model.`,
    });
    return kind.readAnswer(result);
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

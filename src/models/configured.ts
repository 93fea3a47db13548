import type { Config, Environment } from "../config/index.ts";
import { VarveError } from "../domain/index.ts";
import { type ChainOptions, createChain } from "./chain.ts";
import type { GeneratedText, GeneratePurpose, GenerateRequest, NamedModel } from "./generate.ts";
import { openProgramModel, type ProgramSources, parseProgramName } from "./program/program-model.ts";
import { type ProviderSources, resolveAccess } from "./providers.ts";
import { getSdkModel } from "./sdk.ts";
import { streamAnswer } from "./stream-answer.ts";

export interface ConfiguredOptions extends Omit<ChainOptions, "purpose"> {
  /** The folder with `credentials.yaml`. */
  home: string;
  env?: Environment;
  /** The program of `claude-cli` when its own settings name none. */
  claudeProgram?: string;
  /** The time zone whose days daily caps are counted by. */
  timeZone?: string;
}

/**
 * The models configured for a purpose, as a chain; `undefined` when there are none. Keys are resolved and packages
 * loaded on the first call, so that a missing one affects only those who need it.
 */
export function openConfiguredModel(
  settings: Config["models"],
  purpose: GeneratePurpose,
  { home, env = process.env, claudeProgram = "claude", timeZone = "UTC", ...options }: ConfiguredOptions,
): ((request: GenerateRequest) => Promise<GeneratedText & { model: string }>) | undefined {
  const names = listModelNames(settings, purpose);
  if (names.length === 0) return undefined;
  const sources: ProviderSources = { providers: settings.providers, auth: settings.auth, env, home };
  const programs: ProgramSources = {
    programs: {
      "claude-cli": { ...settings.claudeCli, program: settings.claudeCli.program ?? claudeProgram },
      "codex-cli": settings.codexCli,
    },
    timeZone,
    env,
  };
  const models = names.map((name) => {
    const named = parseProgramName(name);
    return named === undefined ? openModel(name, sources) : openProgramModel(name, named, programs);
  });
  return createChain(models, { ...options, purpose });
}

/** The model for a purpose and its fallbacks, without duplicates. Fallbacks also work without a first model. */
export function listModelNames(settings: Config["models"], purpose: GeneratePurpose): string[] {
  const first = settings[purpose];
  return [...new Set([...(first === undefined ? [] : [first]), ...settings[`${purpose}Fallbacks`]])];
}

/** Opens a model by its name, `provider/model`. */
export function openModel(name: string, sources: ProviderSources): NamedModel {
  const slash = name.indexOf("/");
  if (slash < 1 || slash === name.length - 1) {
    throw new VarveError("BAD_CONFIG", `${name} is not the name of a model.`, {
      remedy: "Write provider/model, such as anthropic/claude-haiku-4-5.",
    });
  }
  const [provider, model] = [name.slice(0, slash), name.slice(slash + 1)];
  return {
    name,
    // Resolved for each call: a corrected key takes effect without a restart.
    call: async (request) => streamAnswer(await getSdkModel(resolveAccess(provider, sources), model), request),
  };
}

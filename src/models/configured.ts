import type { Config, Environment } from "../config/index.ts";
import { VarveError } from "../domain/index.ts";
import { type ChainOptions, chain } from "./chain.ts";
import type { Generated, GeneratePurpose, GenerateRequest, NamedModel } from "./generate.ts";
import { type ProviderSources, resolveAccess } from "./providers.ts";
import { streamAnswer } from "./read-stream.ts";
import { sdkModel } from "./sdk.ts";

export interface ConfiguredOptions extends Omit<ChainOptions, "purpose"> {
  /** The folder with `credentials.yaml`. */
  home: string;
  env?: Environment;
}

/**
 * The models that the settings name for a purpose, as one; undefined when they name none. Keys are looked for and
 * packages loaded when a model is first asked, so that what is missing stops no one who does not need it.
 */
export function configuredModel(
  settings: Config["models"],
  purpose: GeneratePurpose,
  { home, env = process.env, ...options }: ConfiguredOptions,
): ((request: GenerateRequest) => Promise<Generated & { model: string }>) | undefined {
  const names = modelNames(settings, purpose);
  if (names.length === 0) return undefined;
  const sources: ProviderSources = { providers: settings.providers, auth: settings.auth, env, home };
  const models = names.map((name) => openModel(name, sources));
  return chain(models, { ...options, purpose });
}

/** The first model for a purpose and its fallbacks, each once. Fallbacks without a first one do its work. */
export function modelNames(settings: Config["models"], purpose: GeneratePurpose): string[] {
  const first = settings[purpose];
  return [...new Set([...(first === undefined ? [] : [first]), ...settings[`${purpose}Fallbacks`]])];
}

/** One model by its name, `provider/model`. */
export function openModel(name: string, sources: ProviderSources): NamedModel {
  const slash = name.indexOf("/");
  if (slash < 1 || slash === name.length - 1) {
    throw new VarveError("BAD_CONFIG", `${name} does not name a model.`, {
      remedy: "Write provider/model, such as anthropic/claude-haiku-4-5.",
    });
  }
  const [provider, model] = [name.slice(0, slash), name.slice(slash + 1)];
  return {
    name,
    // Found anew each time: a key that was put right counts at once, without a restart.
    call: async (request) => streamAnswer(await sdkModel(resolveAccess(provider, sources), model), request),
  };
}

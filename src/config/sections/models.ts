import { z } from "zod";
import { maskAuth, maskProviders, secrets } from "../secrets.ts";

const secret = z.string().min(1);
/** Characters that only a shell would interpret: a command is split at whitespace only. */
const shellCharacters = /["'`$\\|&;<>(){}*?~\n]/;

const command = z.union([
  z
    .string()
    .regex(/\S/, "must name a program")
    .refine(
      (text) => !shellCharacters.test(text),
      "must be a list, such as [program, argument], when it contains quotes or special characters: it is not run by a shell",
    ),
  z.array(z.string()).min(1).max(64),
]);

const oauth = z.strictObject({
  tokenUrl: z.string().refine(isTokenAddress, "must be a URL that starts with https:// (http:// only on this machine)"),
  clientId: z.string().min(1),
  clientSecret: secret.optional(),
  clientAuth: z.enum(["basic", "body"]).default("basic"),
  refreshToken: secret,
  scope: z.string().min(1).optional(),
});

const profile = z
  .strictObject({
    provider: z.string().min(1),
    apiKey: secret.optional(),
    command: command.optional(),
    oauth: oauth.optional(),
    scheme: z.enum(["key", "bearer"]).optional(),
    refreshMs: z.int().min(1_000).optional(),
    timeoutMs: z.int().min(100).max(300_000).default(15_000),
  })
  .refine(
    ({ apiKey, command: run, oauth: grant }) => [apiKey, run, grant].filter((one) => one !== undefined).length === 1,
    "must have one of apiKey, command and oauth",
  );

/** Named credentials, each for one provider. */
const authSetting = z
  .record(z.string().regex(/^[a-z0-9][a-z0-9._-]{0,63}$/, "must be lower-case letters, digits, ., - and _"), profile)
  .default({})
  .describe(
    "Credentials by name; they take precedence over all other keys. Each has provider and one of apiKey (the key, or env: and its variable), command (a program that prints the key; with refreshMs and timeoutMs) or oauth (tokenUrl, clientId, refreshToken). The first one of a provider is used unless models.providers.X.auth names another.",
  )
  .register(secrets, { mask: maskAuth });

function isTokenAddress(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname } = new URL(text);
  return protocol === "https:" || (protocol === "http:" && /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname));
}

const reference = z
  .string()
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9._-]*\/\S+$/,
    "must be a provider and a model with a / between them, such as anthropic/claude-haiku-4-5",
  );
const fallbacks = z.array(reference).max(8).default([]);

/** For work in the background, an installed program may stand for a model. */
const textModel = z
  .string()
  .regex(
    /^(?:[A-Za-z0-9][A-Za-z0-9._-]*\/\S+|claude-cli|codex-cli)$/,
    "must be a provider and a model with a / between them, such as anthropic/claude-haiku-4-5, or an installed program: claude-cli, codex-cli",
  );
const textFallbacks = z.array(textModel).max(8).default([]);

const programArgs = z.array(z.string()).max(64).default([]).describe("Additional arguments for the program.");
const dailyCalls = z
  .int()
  .min(0)
  .max(100_000)
  .default(50)
  .describe("How many times a day the program may be called, over all purposes; by the days of the setting timezone.");

const provider = z.strictObject({
  apiKey: z.string().min(1).optional(),
  auth: z.string().min(1).optional(),
  baseUrl: z.string().refine(isWebAddress, "must be a URL that starts with http:// or https://").optional(),
  kind: z.enum(["anthropic", "openai", "google", "ollama", "openai-compatible"]).optional(),
});

/** The models for each task. Without a model, the built-in implementation does the task. */
export const modelsSection = z.strictObject({
  chat: reference
    .optional()
    .describe(
      "The model that replies, as provider/model. Default: the first provider with a key in the environment, in the order Anthropic, OpenAI, Google.",
    ),
  chatFallbacks: fallbacks.describe("Fallback models for replies, in order."),
  windows: z
    .record(reference, z.int().min(1))
    .default({})
    .describe("Context windows by provider/model, in tokens; overrides the catalogue."),
  backgroundTokensPerDay: z
    .int()
    .min(0)
    .optional()
    .describe(
      "The maximum tokens per day for summaries, file descriptions and memories together. Replies are never limited.",
    ),
  summary: textModel
    .optional()
    .describe(
      "The model that writes summaries, as provider/model, or an installed program (claude-cli, claude-cli/MODEL, codex-cli, codex-cli/MODEL). Default: the built-in summariser.",
    ),
  summaryFallbacks: textFallbacks.describe("Fallback models for summaries, in order."),
  largeFile: textModel
    .optional()
    .describe("The model that describes large files, as provider/model. Default: files are described without a model."),
  largeFileFallbacks: textFallbacks.describe("Fallback models for file descriptions, in order."),
  expansion: textModel
    .optional()
    .describe(
      "The model that answers questions from the history, as provider/model. Default: the matching passages are returned.",
    ),
  expansionFallbacks: textFallbacks.describe("Fallback models for answers from the history, in order."),
  memory: textModel
    .optional()
    .describe("The model that extracts and reconciles memories, as provider/model. Default: built-in rules."),
  memoryFallbacks: textFallbacks.describe("Fallback models for memories, in order."),
  claudeCli: z
    .strictObject({
      program: z
        .string()
        .min(1)
        .optional()
        .describe("The Claude Code program that claude-cli stands for. Default: turn.claude.program."),
      args: programArgs,
      dailyCalls,
    })
    .prefault({}),
  codexCli: z
    .strictObject({
      program: z.string().min(1).default("codex").describe("The Codex program that codex-cli stands for."),
      args: programArgs,
      dailyCalls,
    })
    .prefault({}),
  auth: authSetting,
  providers: z
    .record(z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]*$/, "must be letters, digits, ., - and _"), provider)
    .default({})
    .describe(
      "Providers by name: apiKey (the key, or env: and the variable that holds it), auth (a name in models.auth), baseUrl, and kind when the name is not itself a kind.",
    )
    .register(secrets, { mask: maskProviders }),
});

function isWebAddress(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}

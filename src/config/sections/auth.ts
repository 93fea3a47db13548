import { z } from "zod";
import { maskAuth, secrets } from "../secrets.ts";

const secret = z.string().min(1);
/** What only a shell would understand: a text is split at its blanks and at nothing else. */
const shellCharacters = /["'`$\\|&;<>(){}*?~\n]/;

const command = z.union([
  z
    .string()
    .regex(/\S/, "must name a program")
    .refine(
      (text) => !shellCharacters.test(text),
      "must be a list, such as [program, an argument], when there is more in it than words: no shell reads it",
    ),
  z.array(z.string()).min(1).max(64),
]);

const oauth = z.strictObject({
  tokenUrl: z
    .string()
    .refine(isTokenAddress, "must be an address that begins with https:// (http:// only on this machine)"),
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

/** Named credentials, each of one provider. */
export const authSetting = z
  .record(z.string().regex(/^[a-z0-9][a-z0-9._-]{0,63}$/, "must be lower-case letters, digits, ., - and _"), profile)
  .default({})
  .describe(
    "Credentials by name, above everything else that holds a key: provider, and one of apiKey (the key, or env: and its variable), command (a program that prints one; refreshMs, timeoutMs) and oauth (tokenUrl, clientId, refreshToken). The first one of a provider is used where models.providers.X.auth names none.",
  )
  .register(secrets, { mask: maskAuth });

function isTokenAddress(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname } = new URL(text);
  return protocol === "https:" || (protocol === "http:" && /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname));
}

import { createHash, timingSafeEqual } from "node:crypto";
import type { Principal } from "../authorization/index.ts";
import type { Config } from "../config/index.ts";
import { VarveError } from "../domain/index.ts";

/** The principal of an access token. */
export interface TokenPrincipal extends Principal {
  readonly scopes?: readonly string[];
  expiresAt?: number;
  /** The id of a token in the database; absent for tokens of the settings and for browsers. */
  readonly tokenId?: string;
}

export interface Token extends TokenPrincipal {
  hash: Buffer;
}

export function hasExpired({ expiresAt }: TokenPrincipal, now: number): boolean {
  return expiresAt !== undefined && expiresAt <= now;
}

/** Returns the agent that a principal is bound to; undefined when it may use every agent. */
export function boundAgent({ agents }: Principal): string | undefined {
  return agents?.[0];
}

export function hashSecret(secret: string): Buffer {
  return createHash("sha256").update(secret).digest();
}

/** Reads the access tokens of the settings; throws for one without a value, so that the gateway does not start. */
export function configuredTokens(
  settings: Config["gateway"]["tokens"],
  env: Readonly<Record<string, string | undefined>>,
): Token[] {
  return settings.map(({ name, token, agent, scopes, rights, expiresAt }) => ({
    name,
    hash: resolveTokenHash(name, token, env),
    ...(agent === undefined ? {} : { agents: [agent.toLowerCase()] }),
    scopes,
    rights: new Set(rights),
    expiresAt: expiresAt === undefined ? undefined : Date.parse(expiresAt),
  }));
}

function resolveTokenHash(name: string, token: string, env: Readonly<Record<string, string | undefined>>): Buffer {
  if (token.startsWith("sha256:")) return Buffer.from(token.slice("sha256:".length), "hex");
  const variable = token.slice("env:".length);
  const secret = env[variable];
  if (secret) return hashSecret(secret);
  throw new VarveError(
    "BAD_CONFIG",
    `The access token ${JSON.stringify(name)} is read from the variable ${variable}, which is empty or not set.`,
    {
      remedy: `Set ${variable} where the gateway is started, or remove the token from gateway.tokens.`,
    },
  );
}

export type Identification = { principal: Token } | { fault: "unknown" | "expired" | "revoked" };

/** Compares every token in constant time, so that the duration reveals nothing about them. */
export function identify(tokens: readonly Token[], secret: string, now: number): Identification {
  const hash = hashSecret(secret);
  let found: Token | undefined;
  for (const token of tokens) {
    if (timingSafeEqual(token.hash, hash)) found ??= token;
  }
  if (found === undefined) return { fault: "unknown" };
  return hasExpired(found, now) ? { fault: "expired" } : { principal: found };
}

/** The fault of a token, as a sentence. */
export function describeTokenFault(fault: "unknown" | "expired" | "revoked"): string {
  if (fault === "unknown") return "The access token is unknown.";
  return fault === "expired" ? "The access token has expired." : "The access token was revoked.";
}

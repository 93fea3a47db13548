import { createHash, timingSafeEqual } from "node:crypto";
import type { Config } from "../config/index.ts";
import { VarveError } from "../domain/index.ts";

export type Right = "read" | "write" | "admin";

/** Who makes a request, and what they may do. */
export interface Caller {
  name: string;
  rights: ReadonlySet<Right>;
  /** The only agent whose sessions they see; every agent's when absent. */
  agent?: string;
  /** The only memory scopes they see; all of them when absent. */
  scopes?: readonly string[];
  expiresAt?: number;
}

export interface Token extends Caller {
  hash: Buffer;
}

export const allRights: ReadonlySet<Right> = new Set(["read", "write", "admin"]);

/** `admin` includes the others; `write` does not include `read`, so that a sensor can be let in that only tells. */
export function mayDo(caller: Caller, right: Right): boolean {
  return caller.rights.has("admin") || caller.rights.has(right);
}

export function hasExpired(caller: Caller, now: number): boolean {
  return caller.expiresAt !== undefined && caller.expiresAt <= now;
}

export function hashOf(secret: string): Buffer {
  return createHash("sha256").update(secret).digest();
}

/** The tokens of the settings. A token that cannot be known is a fault at the start, not a locked door later. */
export function configuredTokens(
  settings: Config["gateway"]["tokens"],
  env: Readonly<Record<string, string | undefined>>,
): Token[] {
  return settings.map(({ name, token, agent, scopes, rights, expiresAt }) => ({
    name,
    hash: hashOfSetting(name, token, env),
    agent: agent?.toLowerCase(),
    scopes,
    rights: new Set(rights),
    expiresAt: expiresAt === undefined ? undefined : Date.parse(expiresAt),
  }));
}

function hashOfSetting(name: string, token: string, env: Readonly<Record<string, string | undefined>>): Buffer {
  if (token.startsWith("sha256:")) return Buffer.from(token.slice("sha256:".length), "hex");
  const variable = token.slice("env:".length);
  const secret = env[variable];
  if (secret) return hashOf(secret);
  throw new VarveError(
    "BAD_CONFIG",
    `The token ${JSON.stringify(name)} is to be taken from ${variable}, which is empty.`,
    {
      remedy: `Set ${variable} where the gateway is started, or remove the token from gateway.tokens.`,
    },
  );
}

export type Identified = { caller: Token } | { fault: "unknown" | "expired" };

/** Every token is compared, each in constant time, so that the time taken says nothing about any of them. */
export function identify(tokens: readonly Token[], secret: string, now: number): Identified {
  const hash = hashOf(secret);
  let found: Token | undefined;
  for (const token of tokens) {
    if (timingSafeEqual(token.hash, hash)) found ??= token;
  }
  if (found === undefined) return { fault: "unknown" };
  return hasExpired(found, now) ? { fault: "expired" } : { caller: found };
}

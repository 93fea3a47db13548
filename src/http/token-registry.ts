import { runAsEngine } from "../authorization/index.ts";
import type { Clock } from "../domain/index.ts";
import type { AccessToken, Varve } from "../index.ts";
import { hasExpired, hashSecret, type Identification, identify, type Token, type TokenPrincipal } from "./tokens.ts";

/** How long a token of the database is accepted, or refused, without asking the database again. */
export const tokenCacheMs = 2_000;
const cachedMax = 1_000;
const useIntervalMs = 60_000;

/** Knows the access tokens of the settings, which are fixed, and those of the database, which change at any time. */
export interface TokenRegistry {
  identify(secret: string): Promise<Identification>;
  /** Whether a principal that was identified before is still accepted; for streams, which outlive a request. */
  isAccepted(principal: TokenPrincipal): Promise<boolean>;
  /** Forgets what the database said, after a change through this gateway. */
  clearCache(): void;
  /** Waits until the last uses are recorded. */
  close(): Promise<void>;
}

interface CachedToken {
  readAt: number;
  token: AccessToken | undefined;
}

interface RegistryOptions {
  fixed: readonly Token[];
  stored: Varve["accessTokens"];
  clock: Clock;
  onFailure(error: unknown): void;
}

export function createTokenRegistry({ fixed, stored, clock, onFailure }: RegistryOptions): TokenRegistry {
  const cache = new Map<string, CachedToken>();
  const usedAt = new Map<string, number>();
  const writing = new Set<Promise<void>>();

  const read = async (secret: string, key: string): Promise<AccessToken | undefined> => {
    const known = cache.get(key);
    const now = clock.now();
    if (known && Math.abs(now - known.readAt) < tokenCacheMs) return known.token;
    const token = await runAsEngine(() => stored.findBySecret(secret));
    cache.delete(key);
    cache.set(key, { readAt: now, token });
    // A map keeps the order of insertion, so the first key is the one that was read longest ago.
    const [oldest] = cache.keys();
    if (cache.size > cachedMax && oldest !== undefined) cache.delete(oldest);
    return token;
  };

  const recordUse = ({ id, lastUsedAt }: AccessToken): void => {
    const now = clock.now();
    if (now - Math.max(usedAt.get(id) ?? 0, lastUsedAt ?? 0) < useIntervalMs) return;
    usedAt.set(id, now);
    const write = runAsEngine(() => stored.recordUse(id)).catch(onFailure);
    writing.add(write);
    void write.finally(() => writing.delete(write));
  };

  const judge = (token: AccessToken | undefined, hash: Buffer): Identification => {
    if (token === undefined) return { fault: "unknown" };
    const principal = principalFromToken(token, hash);
    if (!hasExpired(principal, clock.now())) return { principal };
    const isRevoked = token.revokedAt !== null && token.revokedAt <= clock.now();
    return { fault: isRevoked ? "revoked" : "expired" };
  };

  return {
    async identify(secret) {
      const found = identify(fixed, secret, clock.now());
      if (!("fault" in found) || found.fault !== "unknown") return found;
      const hash = hashSecret(secret);
      const token = await read(secret, hash.toString("hex"));
      const judged = judge(token, hash);
      if (token !== undefined && "principal" in judged) recordUse(token);
      return judged;
    },
    async isAccepted(principal) {
      if (hasExpired(principal, clock.now())) return false;
      const { tokenId } = principal;
      if (tokenId === undefined) return true;
      return (await runAsEngine(() => stored.readState(tokenId))) === "active";
    },
    clearCache: () => cache.clear(),
    close: async () => {
      await Promise.all(writing);
    },
  };
}

function principalFromToken(token: AccessToken, hash: Buffer): Token {
  const ends = [token.expiresAt, token.revokedAt].filter((time) => time !== null);
  return {
    name: token.name,
    tokenId: token.id,
    hash,
    rights: new Set(token.rights),
    ...(token.agent === null ? {} : { agents: [token.agent] }),
    ...(token.scopes === null ? {} : { scopes: token.scopes }),
    ...(ends.length === 0 ? {} : { expiresAt: Math.min(...ends) }),
  };
}

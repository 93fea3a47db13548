import type { Clock } from "../../domain/index.ts";
import { computeRenewalTime, type Token } from "./port.ts";
import { runLocked } from "./process-lock.ts";
import { type RefreshRequest, refreshAccessToken } from "./refresh-grant.ts";
import { hashSettings, readTokens, type StoredTokens, tokenFilePath, writeTokens } from "./token-file.ts";

export interface OauthSettings extends RefreshRequest {
  home: string;
  clock: Clock;
}

const retryMs = 30_000;

/**
 * The access token of a profile: the stored one while it is valid, else a new one. A refresh token may be valid for a
 * single use, so only one process at a time exchanges it; the others read what it stored.
 */
export async function requestOauthToken(settings: OauthSettings, refused: string | undefined): Promise<Token> {
  const { home, name, clock, timeoutMs } = settings;
  const path = tokenFilePath(home, name);
  const seed = hashSettings(settings.tokenUrl, settings.clientId, settings.refreshToken);
  const known = findUsableToken(readTokens(path, seed), refused, clock.now());
  if (known !== undefined) return known;
  return runLocked(`${path}.lock`, 2 * timeoutMs + 5_000, async () => {
    const kept = readTokens(path, seed);
    const meanwhile = findUsableToken(kept, refused, clock.now());
    if (meanwhile !== undefined) return meanwhile;
    const refreshToken = kept?.refreshToken ?? settings.refreshToken;
    const granted = await refreshAccessToken({ ...settings, refreshToken }).catch((error: unknown) => {
      const old = findUnexpiredToken(kept, refused, clock.now());
      if (old === undefined) throw error;
      return old;
    });
    if ("value" in granted) return granted;
    const now = clock.now();
    const expiresAt = granted.expiresInMs === undefined ? undefined : now + granted.expiresInMs;
    const grant: StoredTokens = {
      seed,
      refreshToken: granted.refreshToken ?? refreshToken,
      accessToken: granted.accessToken,
      ...(expiresAt === undefined ? {} : { expiresAt, renewAt: computeRenewalTime(now, expiresAt) }),
    };
    // Stored before anything else: losing it would make the next refresh impossible.
    writeTokens(path, grant);
    return toToken(grant);
  });
}

/** Renewal starts ahead of time; while it fails, the old token is used until it expires. */
function findUnexpiredToken(
  grant: StoredTokens | undefined,
  refused: string | undefined,
  now: number,
): Token | undefined {
  if (grant?.expiresAt === undefined || grant.accessToken === refused || now >= grant.expiresAt) return undefined;
  return { ...toToken(grant), renewAt: Math.min(grant.expiresAt, now + retryMs) };
}

function findUsableToken(grant: StoredTokens | undefined, refused: string | undefined, now: number): Token | undefined {
  if (grant === undefined || grant.accessToken === refused) return undefined;
  return now < (grant.renewAt ?? Number.POSITIVE_INFINITY) ? toToken(grant) : undefined;
}

function toToken({ accessToken: value, expiresAt, renewAt }: StoredTokens): Token {
  return { value, ...(expiresAt === undefined ? {} : { expiresAt }), ...(renewAt === undefined ? {} : { renewAt }) };
}

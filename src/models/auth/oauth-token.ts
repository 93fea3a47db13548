import type { Clock } from "../../domain/index.ts";
import { renewalOf, type Token } from "./port.ts";
import { withProcessLock } from "./process-lock.ts";
import { type GrantRequest, refreshGrant } from "./refresh-grant.ts";
import { grantPath, type KeptGrant, readGrant, seedOf, writeGrant } from "./token-file.ts";

export interface OauthSettings extends GrantRequest {
  home: string;
  clock: Clock;
}

const againMs = 30_000;

/**
 * The access token of a profile: the one that is kept while it holds, else a new one. A refresh token may be good for
 * one exchange only, so one process at a time exchanges it, and the others find what that one wrote.
 */
export async function tokenByOauth(settings: OauthSettings, refused: string | undefined): Promise<Token> {
  const { home, name, clock, timeoutMs } = settings;
  const path = grantPath(home, name);
  const seed = seedOf(settings.tokenUrl, settings.clientId, settings.refreshToken);
  const known = usable(readGrant(path, seed), refused, clock.now());
  if (known !== undefined) return known;
  return withProcessLock(`${path}.lock`, 2 * timeoutMs + 5_000, async () => {
    const kept = readGrant(path, seed);
    const meanwhile = usable(kept, refused, clock.now());
    if (meanwhile !== undefined) return meanwhile;
    const refreshToken = kept?.refreshToken ?? settings.refreshToken;
    const granted = await refreshGrant({ ...settings, refreshToken }).catch((error: unknown) => {
      const old = lasting(kept, refused, clock.now());
      if (old === undefined) throw error;
      return old;
    });
    if ("value" in granted) return granted;
    const now = clock.now();
    const expiresAt = granted.expiresInMs === undefined ? undefined : now + granted.expiresInMs;
    const grant: KeptGrant = {
      seed,
      refreshToken: granted.refreshToken ?? refreshToken,
      accessToken: granted.accessToken,
      ...(expiresAt === undefined ? {} : { expiresAt, renewAt: renewalOf(now, expiresAt) }),
    };
    // Before anything else: if this is lost, so is the way to the next token.
    writeGrant(path, grant);
    return tokenOf(grant);
  });
}

/** A new one is asked for ahead of time; while that fails, the old one serves for as long as it holds. */
function lasting(grant: KeptGrant | undefined, refused: string | undefined, now: number): Token | undefined {
  if (grant?.expiresAt === undefined || grant.accessToken === refused || now >= grant.expiresAt) return undefined;
  return { ...tokenOf(grant), renewAt: Math.min(grant.expiresAt, now + againMs) };
}

function usable(grant: KeptGrant | undefined, refused: string | undefined, now: number): Token | undefined {
  if (grant === undefined || grant.accessToken === refused) return undefined;
  return now < (grant.renewAt ?? Number.POSITIVE_INFINITY) ? tokenOf(grant) : undefined;
}

function tokenOf({ accessToken: value, expiresAt, renewAt }: KeptGrant): Token {
  return { value, ...(expiresAt === undefined ? {} : { expiresAt }), ...(renewAt === undefined ? {} : { renewAt }) };
}

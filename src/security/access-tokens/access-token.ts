import { createHash } from "node:crypto";
import type { Right } from "../../authorization/index.ts";
import { durationForm, parseDuration, VarveError } from "../../domain/index.ts";
import type { AccessTokenTable } from "../../store/index.ts";

/** An access token of the gateway that is stored in the database. Its secret is not: only the hash of it is. */
export interface AccessToken {
  id: string;
  name: string;
  /** The only agent it may use; null for every agent. */
  agent: string | null;
  /** The only memory scopes it may read and write; null for those that the settings open to the agent. */
  scopes: string[] | null;
  rights: Right[];
  createdAt: number;
  /** Null when it never expires. */
  expiresAt: number | null;
  /** When it was last used, to the minute. */
  lastUsedAt: number | null;
  /** In the future while a rotated token is still accepted. */
  revokedAt: number | null;
  /** The id of the token that it replaced. */
  rotatedFrom: string | null;
  state: TokenState;
}

export type TokenState = "active" | "expired" | "revoked";

/** A token with the only copy of its secret. */
export interface IssuedToken {
  token: AccessToken;
  secret: string;
}

export const defaultLifeMs = 90 * 86_400_000;

export function hashTokenSecret(secret: string): string {
  return createHash("sha256").update(secret).digest("hex");
}

export function tokenState(
  { expires_at, revoked_at }: Pick<AccessTokenTable, "expires_at" | "revoked_at">,
  now: number,
): TokenState {
  if (revoked_at !== null && revoked_at <= now) return "revoked";
  return expires_at !== null && expires_at <= now ? "expired" : "active";
}

export function tokenFromRow(row: AccessTokenTable, now: number): AccessToken {
  return {
    id: row.id,
    name: row.name,
    agent: row.agent,
    scopes: row.scopes === null ? null : (JSON.parse(row.scopes) as string[]),
    rights: JSON.parse(row.rights) as Right[],
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    lastUsedAt: row.last_used_at,
    revokedAt: row.revoked_at,
    rotatedFrom: row.rotated_from,
    state: tokenState(row, now),
  };
}

/** Reads when a token expires: a duration from now, a date, or `never`. */
export function parseExpiry(text: string, now: number): number | null {
  if (text === "never") return null;
  const lifeMs = parseDuration(text);
  const time = lifeMs === undefined ? parseDate(text) : now + lifeMs;
  if (time > now) return time;
  throw new VarveError(
    "BAD_REQUEST",
    `${JSON.stringify(text.slice(0, 100))} is not a time at which a token can expire.`,
    {
      remedy: `Write ${durationForm}, a date in the future such as 2027-01-31, or never.`,
    },
  );
}

function parseDate(text: string): number {
  return /^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(text) : Number.NaN;
}

/** Reads how long a rotated token is still accepted. */
export function parseGrace(text: string): number {
  const graceMs = parseDuration(text);
  if (graceMs !== undefined) return graceMs;
  throw new VarveError("BAD_REQUEST", `${JSON.stringify(text.slice(0, 100))} is not a grace period.`, {
    remedy: `Write ${durationForm}.`,
  });
}

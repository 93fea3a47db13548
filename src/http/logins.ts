import { allRights } from "../authorization/index.ts";
import type { Clock, Random } from "../domain/index.ts";
import { hashSecret, type Identification, identify, type Token } from "./tokens.ts";

export const loginCodeMs = 60_000;
const loginMs = 7 * 24 * 60 * 60_000;
const codesMax = 20;
const loginsMax = 100;

/**
 * Logs browsers in by a link that works once. The cookie holds a secret of its own instead of the access token, because
 * browsers also send it to other servers on this machine; it is useless there, and after a restart.
 */
export interface Logins {
  createCode(): string;
  /** Returns the secret for the cookie; undefined when the code is unknown, used or too old. */
  redeem(code: string): { secret: string; maxAgeSeconds: number } | undefined;
  identify(secret: string): Identification;
}

export function createLogins(clock: Clock, random: Random): Logins {
  const codes: Token[] = [];
  const logins: Token[] = [];
  let count = 0;
  const issueSecret = (list: Token[], max: number, name: string, lifeMs: number): string => {
    const secret = Buffer.from(random.bytes(32)).toString("base64url");
    list.push({ name, hash: hashSecret(secret), rights: allRights, expiresAt: clock.now() + lifeMs });
    if (list.length > max) list.shift();
    return secret;
  };
  return {
    createCode: () => issueSecret(codes, codesMax, "code", loginCodeMs),
    redeem: (code) => {
      const found = identify(codes, code, clock.now());
      if (!("principal" in found)) return undefined;
      codes.splice(codes.indexOf(found.principal), 1);
      count += 1;
      return { secret: issueSecret(logins, loginsMax, `browser ${count}`, loginMs), maxAgeSeconds: loginMs / 1000 };
    },
    identify: (secret) => identify(logins, secret, clock.now()),
  };
}

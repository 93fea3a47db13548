import { allRights } from "../authorization/index.ts";
import type { Clock, Random } from "../domain/index.ts";
import { hashSecret, type Identified, identify, type Token } from "./tokens.ts";

export const loginCodeMs = 60_000;
const loginMs = 7 * 24 * 60 * 60_000;
const codesMax = 20;
const loginsMax = 100;

/**
 * Browsers come in by a link that works once and get a secret of their own as a cookie. It is not the token: a cookie
 * also reaches whatever else listens on this machine, and this one is worth nothing there or after a restart.
 */
export interface Logins {
  makeCode(): string;
  /** The secret for the cookie, when the code is one that was made and neither used nor too old. */
  redeem(code: string): { secret: string; maxAgeSeconds: number } | undefined;
  identify(secret: string): Identified;
}

export function createLogins(clock: Clock, random: Random): Logins {
  const codes: Token[] = [];
  const logins: Token[] = [];
  let count = 0;
  const secretFor = (list: Token[], max: number, name: string, lifeMs: number): string => {
    const secret = Buffer.from(random.bytes(32)).toString("base64url");
    list.push({ name, hash: hashSecret(secret), rights: allRights, expiresAt: clock.now() + lifeMs });
    // The oldest gives way: what is kept stays bounded.
    if (list.length > max) list.shift();
    return secret;
  };
  return {
    makeCode: () => secretFor(codes, codesMax, "code", loginCodeMs),
    redeem: (code) => {
      const found = identify(codes, code, clock.now());
      if (!("principal" in found)) return undefined;
      codes.splice(codes.indexOf(found.principal), 1);
      count += 1;
      return { secret: secretFor(logins, loginsMax, `browser ${count}`, loginMs), maxAgeSeconds: loginMs / 1000 };
    },
    identify: (secret) => identify(logins, secret, clock.now()),
  };
}

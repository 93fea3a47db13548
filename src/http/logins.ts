import { createHmac, timingSafeEqual } from "node:crypto";
import { allRights } from "../authorization/index.ts";
import type { Clock, Random } from "../domain/index.ts";
import { hasExpired, hashSecret, type Identification, identify, type Token, type TokenPrincipal } from "./tokens.ts";

export const loginCodeMs = 60_000;
const loginMs = 7 * 24 * 60 * 60_000;
const codesMax = 20;
const loginsMax = 100;

interface IssuedLogin {
  secret: string;
  maxAgeSeconds: number;
}

/**
 * Logs browsers in by a link that works once, or by an access token. The cookie holds a secret of its own instead of the
 * access token, because browsers also send it to other servers on this machine; it is useless there. Logins survive a
 * restart of the gateway, as hashes in a file that only the owner can read, so that an open page continues by itself.
 */
export interface Logins {
  createCode(): string;
  /** Returns the secret for the cookie; undefined when the code is unknown, used or too old. */
  redeem(code: string): IssuedLogin | undefined;
  /** Logs a browser in with the rights of an access token. */
  open(principal: TokenPrincipal): IssuedLogin;
  identify(secret: string): Identification;
  /** The token that requests of a login carry when they write. */
  findRequestToken(secret: string): string | undefined;
  isRequestToken(secret: string, given: string | undefined): boolean;
  close(secret: string): void;
}

/** Where logins are kept between two runs of the gateway. */
export interface LoginStore {
  load(): Token[];
  save(logins: readonly Token[]): void;
}

export function createLogins(clock: Clock, random: Random, store: LoginStore): Logins {
  const codes: Token[] = [];
  const logins: Token[] = store.load().filter((login) => !hasExpired(login, clock.now()));
  const newSecret = (): string => Buffer.from(random.bytes(32)).toString("base64url");
  const open = (principal: TokenPrincipal): IssuedLogin => {
    const secret = newSecret();
    const ends = clock.now() + loginMs;
    const expiresAt = Math.min(principal.expiresAt ?? ends, ends);
    logins.push({ ...principal, hash: hashSecret(secret), expiresAt });
    if (logins.length > loginsMax) logins.shift();
    store.save(logins);
    return { secret, maxAgeSeconds: Math.max(1, Math.floor((expiresAt - clock.now()) / 1000)) };
  };
  const find = (secret: string): Token | undefined => {
    const found = identify(logins, secret, clock.now());
    return "principal" in found ? found.principal : undefined;
  };
  return {
    createCode: () => {
      const code = newSecret();
      codes.push({ name: "code", hash: hashSecret(code), rights: allRights, expiresAt: clock.now() + loginCodeMs });
      if (codes.length > codesMax) codes.shift();
      return code;
    },
    redeem: (code) => {
      const found = identify(codes, code, clock.now());
      if (!("principal" in found)) return undefined;
      codes.splice(codes.indexOf(found.principal), 1);
      return open({ name: `browser ${nextNumber(logins)}`, rights: allRights });
    },
    open,
    identify: (secret) => identify(logins, secret, clock.now()),
    findRequestToken: (secret) => (find(secret) ? deriveRequestToken(secret) : undefined),
    isRequestToken: (secret, given) =>
      find(secret) !== undefined && timingSafeEqual(hashSecret(deriveRequestToken(secret)), hashSecret(given ?? "")),
    close: (secret) => {
      const login = find(secret);
      if (!login) return;
      logins.splice(logins.indexOf(login), 1);
      store.save(logins);
    },
  };
}

/** Requests that write carry it, so that no other page can forge them. Only the page and the gateway know the secret. */
function deriveRequestToken(secret: string): string {
  return createHmac("sha256", secret).update("varve request token").digest("base64url");
}

function nextNumber(logins: readonly Token[]): number {
  const numbers = logins.map(({ name }) => Number(/^browser (\d+)$/.exec(name)?.[1] ?? 0));
  return Math.max(0, ...numbers) + 1;
}

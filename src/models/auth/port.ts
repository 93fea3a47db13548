/** Provides a credential that is not in the settings. The credential never appears in an error. */
export interface TokenSource {
  /** A token that is valid now. */
  token(signal?: AbortSignal): Promise<string>;
  /** A replacement for a rejected token; `undefined` when there is none. */
  renew(refused: string, signal?: AbortSignal): Promise<string | undefined>;
}

/** A credential and its expiry in milliseconds since 1970; without one it is valid until it is rejected. */
export interface Token {
  value: string;
  expiresAt?: number;
  /** When to request the next one, ahead of the expiry. */
  renewAt?: number;
}

const leadShare = 0.1;
const leadMsMax = 300_000;

/** When to renew a token issued now: early enough that no running call outlives it. */
export function computeRenewalTime(now: number, expiresAt: number): number {
  return expiresAt - Math.min(leadMsMax, Math.max(0, expiresAt - now) * leadShare);
}

/** Where a credential comes from that does not stand in the settings. What it gives is never part of an error. */
export interface TokenSource {
  /** One that holds now. */
  token(signal?: AbortSignal): Promise<string>;
  /** Another one after this was refused; undefined where there is no other. */
  renew(refused: string, signal?: AbortSignal): Promise<string | undefined>;
}

/** A credential with how long it holds, in milliseconds since 1970; without a time, until it is refused. */
export interface Token {
  value: string;
  expiresAt?: number;
  /** When another one is to be asked for, ahead of its end. */
  renewAt?: number;
}

const leadShare = 0.1;
const leadMsMax = 300_000;

/** When a token that is made now is to be replaced: so far ahead of its end that no call under way outlives it. */
export function renewalOf(now: number, expiresAt: number): number {
  return expiresAt - Math.min(leadMsMax, Math.max(0, expiresAt - now) * leadShare);
}

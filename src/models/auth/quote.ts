import { redactSecrets } from "../../domain/index.ts";

const shownMax = 200;
/** Long runs of letters and digits are probably tokens of an unknown kind. */
const opaque = /(?=\S{0,200}\d)(?=\S{0,200}[A-Za-z])[A-Za-z0-9_\-+/=.~%]{20,}/g;

/** Quotes the output of a program or server: short, on one line, without secrets. */
export function quoteSafely(text: string, known: readonly string[] = []): string {
  const without = known.reduce((clean, secret) => clean.replaceAll(secret, "[removed]"), text.slice(-4_000));
  const line = redactSecrets(without).replaceAll(opaque, "[removed]").replaceAll(/\s+/g, " ").trim();
  return line.length > shownMax ? `${line.slice(0, shownMax)}…` : line;
}

/** Whether a text can be sent in a header as a key: one word of visible characters. */
export function isCredential(text: string): boolean {
  return /^[\x21-\x7e]{1,16384}$/.test(text);
}

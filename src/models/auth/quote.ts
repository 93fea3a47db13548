import { redactSecrets } from "../../domain/index.ts";

const shownMax = 200;
/** Long runs of letters and digits are probably tokens of an unknown kind. */
const opaque = /[A-Za-z0-9_\-+/=.~%]{20,}/g;

/** Quotes the output of a program or server: short, on one line, without secrets. */
export function quoteSafely(text: string, known: readonly string[] = []): string {
  const without = known.reduce((clean, secret) => clean.replaceAll(secret, "[removed]"), text.slice(-4_000));
  const isToken = (run: string): boolean => /\d/.test(run) && /[A-Za-z]/.test(run);
  const line = redactSecrets(without)
    .replaceAll(opaque, (run) => (isToken(run) ? "[removed]" : run))
    .replaceAll(/\s+/g, " ")
    .trim();
  return line.length > shownMax ? `${line.slice(0, shownMax)}…` : line;
}

/** Whether a text can be sent in a header as a key: one word of visible characters. */
export function isCredential(text: string): boolean {
  return /^[\x21-\x7e]{1,16384}$/.test(text);
}

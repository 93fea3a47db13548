/**
 * Patterns of well-known secrets, each too distinctive to match ordinary words. Deliberately not a library: secret
 * scanners are programs with hundreds of entropy rules, too slow and too prone to false positives for every message.
 */
export const secretPatterns: readonly [kind: string, pattern: RegExp][] = [
  ["private key", /-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----[\s\S]*?(?:-----END (?:[A-Z]+ )*PRIVATE KEY-----|$)/g],
  ["Anthropic key", /\bsk-ant-[A-Za-z0-9_-]{16,}/g],
  ["API key", /\bsk-(?:proj-|svcacct-|or-v1-)?[A-Za-z0-9_-]{20,}/g],
  ["GitHub token", /\b(?:gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{30,})/g],
  ["AWS key", /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g],
  ["Google key", /\bAIza[A-Za-z0-9_-]{35}/g],
  ["Slack token", /\bxox[abposr]-[A-Za-z0-9-]{10,}/g],
  ["Hugging Face token", /\bhf_[A-Za-z0-9]{30,}/g],
  ["Stripe key", /\b[rs]k_(?:live|test)_[A-Za-z0-9]{16,}/g],
  ["npm token", /\bnpm_[A-Za-z0-9]{36}\b/g],
  ["web token", /\beyJ[A-Za-z0-9_-]{10,1000}\.eyJ[A-Za-z0-9_-]{10,4000}\.[A-Za-z0-9_-]{10,}/g],
];

/** Replaces every secret by its kind. */
export function redactSecrets(text: string): string {
  return secretPatterns.reduce((clean, [kind, pattern]) => clean.replace(pattern, `[${kind} removed]`), text);
}

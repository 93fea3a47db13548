/** Callers that are not access tokens: the audit log must not confuse a token with one of them. */
const reserved: ReadonlySet<string> = new Set([
  ...["owner", "local", "anonymous", "token file", "proxy client", "login link"],
]);

/** The fault of a new access token's name; undefined for a valid one. */
export function findNameFault(name: string): string | undefined {
  const plain = name.normalize("NFKC").trim().toLowerCase();
  if (reserved.has(plain)) return `must not be ${plain}, which names another caller in the audit log`;
  if (plain.startsWith("browser")) return "must not begin with browser, as logins of browsers do";
  if (plain.includes("(token_")) return "must not look like the id of a token";
  return undefined;
}

/** A caller as the audit log names it: two tokens may have had the same name, one after the other. */
export function printCaller({ name, tokenId }: { name: string; tokenId?: string | undefined }): string {
  return tokenId === undefined ? name : `${name} (${tokenId})`;
}

import { createHash } from "node:crypto";
import { detectLanguage } from "../../text/index.ts";
import { tokenise } from "./tokens.ts";
import { prepareWordSets } from "./word-sets.ts";

const prefix = "text:";
const charsMax = 4_000;
const digits = 16;

/**
 * A key that texts share which consist of the same words in any order, spelling variant or number format: a fast way to
 * find repetitions of a fact that fills no slot. Whether they are the same is decided by comparing them.
 */
export function createTextKey(text: string): string | undefined {
  if (text.length > charsMax) return undefined;
  const words = tokenise(text, prepareWordSets(detectLanguage(text))).map((token) => token.text.toLowerCase());
  if (words.length === 0) return undefined;
  return `${prefix}${createHash("sha256").update(words.sort().join("\n")).digest("hex").slice(0, digits)}`;
}

export function isTextKey(key: string): boolean {
  return key.startsWith(prefix);
}

import { LRUCache } from "lru-cache";
import { detect } from "./detect.ts";
import { exploreText } from "./explore.ts";
import { formatNumber } from "./summary-format.ts";

/** Exploring a large text takes milliseconds, and a view shows the same text in every turn. */
const explored = new LRUCache<string, string>({ max: 200 });
const sampleCharacters = 64 * 1024;

/** The description of a text: its kind and lines in a few words, or its exploration summary of about 200 tokens. */
export function describeText(text: string, length: "short" | "long"): string {
  const key = `${length} ${text.length} ${text.slice(0, 400)} ${text.slice(-400)}`;
  const known = explored.get(key);
  if (known !== undefined) return known;
  const description =
    length === "long" ? exploreText(text).summary.replace(/(?<!\s)\s*\n\s*/g, "; ") : describeKind(text);
  explored.set(key, description);
  return description;
}

function describeKind(text: string): string {
  const found = detect(text.slice(0, sampleCharacters), {});
  const kind =
    found.kind === "code" ? `${found.language} code` : found.kind === "text" ? "text" : found.kind.toUpperCase();
  const lines = text.split("\n").length;
  return `${kind}, ${formatNumber(lines)} line${lines === 1 ? "" : "s"}`;
}

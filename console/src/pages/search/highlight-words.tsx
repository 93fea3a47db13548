import type { ComponentChildren } from "preact";
import type { SearchState } from "./queries.ts";

/** The text with the words of the query marked; as elements, never as HTML. */
export function highlightWords(text: string, { q, mode }: Pick<SearchState, "q" | "mode">): ComponentChildren {
  const pattern = mode === "regex" ? toPattern(q) : wordsPattern(q);
  if (pattern === undefined) return text;
  const parts: ComponentChildren[] = [];
  let end = 0;
  for (const match of text.matchAll(pattern)) {
    if (match[0] === "") continue;
    parts.push(text.slice(end, match.index), <mark>{match[0]}</mark>);
    end = match.index + match[0].length;
    if (parts.length > 400) break;
  }
  return [...parts, text.slice(end)];
}

function wordsPattern(q: string): RegExp | undefined {
  const words = q
    .split(/[^\p{L}\p{N}_]+/u)
    .filter((word) => word.length > 1)
    .map((word) => word.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return words.length === 0
    ? undefined
    : new RegExp(`(?<![\\p{L}\\p{N}])(?:${words.join("|")})[\\p{L}\\p{N}]{0,4}`, "giu");
}

/** The browser's dialect differs from the engine's; where it cannot read the pattern, nothing is marked. */
function toPattern(q: string): RegExp | undefined {
  try {
    return new RegExp(q, "gi");
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

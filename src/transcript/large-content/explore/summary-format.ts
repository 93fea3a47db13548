import { estimateTokens } from "../../../text/index.ts";

/** The input of every reader. */
export interface ExploredText {
  text: string;
  isCut: boolean;
  /** How much text there is and how much of it was examined; ends the first line of a summary. */
  extent: string;
}

/** Splits a text into lines. An incomplete last line is dropped, unless it is the only one. */
export function splitLines({ text, isCut }: ExploredText): string[] {
  const lines = text.split(/\r\n|\n|\r/);
  if (lines.length > 1 && (isCut || lines.at(-1) === "")) lines.pop();
  return lines;
}

/** One line of a summary: a label and as many items as fit. */
export interface Section {
  label: string;
  items: readonly string[];
  /** The number of items when `items` has only the first ones. */
  total?: number;
  /** `items` are a selection: omitted ones are not counted. */
  isChoice?: boolean;
  separator?: string;
  /** Its share of the token budget relative to other sections (default 1). */
  weight?: number;
}

const summaryTokensMax = 220;

/** Reserved in a line for the number of omitted items. */
const moreTokens = 8;
const itemsMax = 400;
const itemCharactersMax = 400;

/** Builds a summary of at most `tokensMax` tokens that states what it omits. */
export function formatSummary(head: string, sections: readonly Section[], tokensMax = summaryTokensMax): string {
  const lines = [truncateTokens(head, Math.floor(tokensMax / 2))];
  let left = tokensMax - countLineTokens(lines);
  const filled = sections
    .map((section) => ({
      ...section,
      items: section.items.filter((item) => toSingleLine(item.slice(0, itemCharactersMax)) !== ""),
    }))
    .filter(({ items }) => items.length > 0);
  let weights = filled.reduce((sum, { weight = 1 }) => sum + weight, 0);
  for (const section of filled) {
    const weight = section.weight ?? 1;
    const line = fitSection(section, Math.floor((left * weight) / weights));
    weights -= weight;
    if (line === undefined) continue;
    lines.push(line);
    left = tokensMax - countLineTokens(lines);
  }
  return lines.join("\n");
}

function fitSection(section: Section, tokensMax: number): string | undefined {
  const { label, separator = ", ", isChoice } = section;
  const items = section.items.slice(0, itemsMax).map((item) => truncateCharacters(item, itemCharactersMax));
  const total = section.total ?? section.items.length;
  const whole = `${label}: ${items.join(separator)}`;
  if ((total === items.length || isChoice) && estimateTokens(whole) <= tokensMax) return whole;
  const shown: string[] = [];
  const line = () => `${label}: ${shown.join(separator)}`;
  const room = tokensMax - moreTokens;
  for (const item of items) {
    shown.push(item);
    if (estimateTokens(line()) <= room) continue;
    shown.pop();
    break;
  }
  if (shown.length === 0) {
    const part = truncateTokens(items[0] ?? "", room - estimateTokens(`${label}: `));
    if (part === "") return undefined;
    shown.push(part);
  }
  const more = total - shown.length;
  return more > 0 && !isChoice ? `${line()} (+${formatNumber(more)} more)` : line();
}

/** The beginning of a text, at most `tokensMax` tokens. */
function truncateTokens(text: string, tokensMax: number): string {
  const whole = toSingleLine(text.slice(0, 4 * itemCharactersMax));
  if (whole.length === text.length && estimateTokens(whole) <= tokensMax) return whole;
  if (tokensMax < 2) return "";
  let [low, high] = [0, whole.length];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (estimateTokens(`${whole.slice(0, middle)}…`) <= tokensMax) low = middle;
    else high = middle - 1;
  }
  return low === 0 ? "" : `${whole.slice(0, low).toWellFormed().trimEnd()}…`;
}

/** A single-line text that ends in … when truncated. */
export function truncateCharacters(text: string, charactersMax: number): string {
  return text.length <= charactersMax ? toSingleLine(text) : `${toSingleLine(text.slice(0, charactersMax))}…`;
}

/** A single line that any store can hold: no control characters, no lone surrogates. */
export function toSingleLine(text: string): string {
  return text
    .toWellFormed()
    .replace(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, " ")
    .trim();
}

/** `1,234` */
export function formatNumber(number: number): string {
  return number.toLocaleString("en-US");
}

/** `1 row`, `2 rows` */
export function formatCount(number: number, one: string, many = `${one}s`): string {
  return `${formatNumber(number)} ${number === 1 ? one : many}`;
}

function countLineTokens(lines: readonly string[]): number {
  // The line break and the rounding of two token halves may add one.
  return estimateTokens(lines.join("\n")) + 1;
}

import { estimateTokens } from "../../../tokens/index.ts";

/** One line of a summary: what it is, and as many of its items as there is room for. */
export interface Section {
  label: string;
  items: readonly string[];
  /** How many there are when `items` holds only the first of them. */
  total?: number;
  /** A choice out of many: what is left out of it is not counted. */
  isChoice?: boolean;
  separator?: string;
  /** How much of the room it gets beside the others; 1 when absent. */
  weight?: number;
}

export const summaryTokensMax = 220;

/** What is kept free in a line for saying how many items it leaves out. */
const moreTokens = 8;
const itemsMax = 400;
const itemCharactersMax = 400;

/** A summary of a head and its sections that is never longer than its bound, and says what it leaves out. */
export function fit(head: string, sections: readonly Section[], tokensMax = summaryTokensMax): string {
  const lines = [clip(head, Math.floor(tokensMax / 2))];
  let left = tokensMax - tokensOf(lines);
  const filled = sections
    .map((section) => ({
      ...section,
      items: section.items.filter((item) => clean(item.slice(0, itemCharactersMax)) !== ""),
    }))
    .filter(({ items }) => items.length > 0);
  let weights = filled.reduce((sum, { weight = 1 }) => sum + weight, 0);
  for (const section of filled) {
    const weight = section.weight ?? 1;
    const line = fitSection(section, Math.floor((left * weight) / weights));
    weights -= weight;
    if (line === undefined) continue;
    lines.push(line);
    left = tokensMax - tokensOf(lines);
  }
  return lines.join("\n");
}

function fitSection(section: Section, tokensMax: number): string | undefined {
  const { label, separator = ", ", isChoice } = section;
  const items = section.items.slice(0, itemsMax).map((item) => shorten(item, itemCharactersMax));
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
    const part = clip(items[0] ?? "", room - estimateTokens(`${label}: `));
    if (part === "") return undefined;
    shown.push(part);
  }
  const more = total - shown.length;
  return more > 0 && !isChoice ? `${line()} (+${count(more)} more)` : line();
}

/** The beginning of a text that has no more than so many tokens. */
export function clip(text: string, tokensMax: number): string {
  const whole = clean(text.slice(0, 4 * itemCharactersMax));
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

/** A text on one line that ends in … where it was cut. */
export function shorten(text: string, charactersMax: number): string {
  return text.length <= charactersMax ? clean(text) : `${clean(text.slice(0, charactersMax))}…`;
}

/** One line of text that any store can hold: no control characters, no halves of characters. */
export function clean(text: string): string {
  return text
    .toWellFormed()
    .replace(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, " ")
    .trim();
}

/** `1,234` */
export function count(number: number): string {
  return number.toLocaleString("en-US");
}

/** `1 row`, `2 rows` */
export function counted(number: number, one: string, many = `${one}s`): string {
  return `${count(number)} ${number === 1 ? one : many}`;
}

function tokensOf(lines: readonly string[]): number {
  // Each line ends the one before it, and two halves of a token may round up.
  return estimateTokens(lines.join("\n")) + 1;
}

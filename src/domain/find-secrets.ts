import { secretPatterns } from "./redact.ts";

/** A credential in a text. */
export interface FoundSecret {
  kind: string;
  start: number;
  end: number;
}

/** A cheap test that most texts fail: without one of these there is no secret to look for. */
const telling =
  /sk-|gh[pousr]_|github_pat_|AKIA|ASIA|AIza|xox|hf_|[rs]k_|npm_|eyJ|-----BEGIN|pass|pwd|secret|token|key|credential|bearer/i;

/** A word that announces a credential, and what is said to be its value, at most a few words later. */
const announced = [
  /\b(?:password|passwd|passphrase|passwort|kennwort|pwd|secret|(?:access|auth|api|refresh)[_ -]?(?:token|key)|private[_ -]?key|client[_ -]?secret|credentials?|bearer|token)\b["']?[^\n:=]{0,60}?(?:\s(?:is|was|ist|est|es)\s{1,3}|\s{0,3}[:=]>?\s{0,3})["'`]?([^\s"'`<>,;]{8,512})/gi,
  /\b(?:bearer|password|token)\s{1,3}["'`]?([^\s"'`<>,;]{8,512})/gi,
];

/** Random text has more bits for each character than words have. */
const entropyMin = 3;
const lengthMin = 12;

/** Finds credentials: the patterns of well-known providers, and random text after a word that announces one. */
export function findSecrets(text: string): FoundSecret[] {
  if (!telling.test(text)) return [];
  const found: FoundSecret[] = [];
  for (const [kind, pattern] of secretPatterns) {
    for (const match of text.matchAll(pattern))
      found.push({ kind, start: match.index, end: match.index + match[0].length });
  }
  for (const match of announced.flatMap((pattern) => [...text.matchAll(pattern)])) {
    const [whole, given = ""] = match;
    const value = trimEnd(given);
    const start = match.index + whole.length - given.length;
    if (isRandom(value)) found.push({ kind: "credential", start, end: start + value.length });
  }
  return dropOverlaps(found);
}

/** Without the punctuation that ends a sentence. */
function trimEnd(value: string): string {
  let end = value.length;
  while (end > 0 && ".)]".includes(value[end - 1] ?? "")) end -= 1;
  return value.slice(0, end);
}

/** Replaces credentials by their kind, for texts that are derived from messages, such as titles. */
export function dropSecrets(text: string): string {
  let clean = "";
  let last = 0;
  for (const { kind, start, end } of findSecrets(text)) {
    clean += `${text.slice(last, start)}[${kind} removed]`;
    last = end;
  }
  return clean + text.slice(last);
}

/** Whether a text looks random: long enough, of several kinds of characters, and with few repetitions. */
function isRandom(value: string): boolean {
  const kinds = [/[a-z]/, /[A-Z]/, /\d/, /[^A-Za-z\d]/].filter((kind) => kind.test(value)).length;
  if (kinds < 2 || !/\d/.test(value)) return false;
  // A path, an address or a variable is no credential.
  if (/^(?:\/|\.{1,2}\/|https?:|\$|\{|%)/.test(value) || /^[\w.-]+\([^)]*\)?$/.test(value)) return false;
  return value.length >= lengthMin ? measureEntropy(value) >= entropyMin : kinds >= 3 && measureEntropy(value) >= 2.5;
}

/** Shannon entropy, in bits for each character. */
function measureEntropy(text: string): number {
  const counts = new Map<string, number>();
  for (const character of text) counts.set(character, (counts.get(character) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values()) bits -= (count / text.length) * Math.log2(count / text.length);
  return bits;
}

function dropOverlaps(found: FoundSecret[]): FoundSecret[] {
  const kept: FoundSecret[] = [];
  for (const one of found.sort((a, b) => a.start - b.start || b.end - a.end)) {
    if (one.start >= (kept.at(-1)?.end ?? 0)) kept.push(one);
  }
  return kept;
}

import { ownToken, selfToken, type Token, tokenise } from "./tokens.ts";
import { stripMarkers, type WordSets } from "./word-sets.ts";

/** The difference of two token lists: what both contain in order, and the parts of each between. */
interface Difference {
  common: Token[];
  /** Parts that differ; `after` counts the common tokens before them. */
  regions: { older: Token[]; newer: Token[]; after: number }[];
}

const valueWordsMax = 5;
const insertedMax = 5;
const lightDeletedMax = 2;
const prefixShare = 0.5;
const prefixLeast = 3;

/** Whether a sentence says that another one no longer holds: it ended, was replaced by name, or has another value now. */
export function saysItChanged(newer: string, older: string, sets: WordSets): boolean {
  if (namesReplacedValue(newer, older, sets)) return true;
  if (sets.ended.test(newer) && saysItEnded(newer, older, sets)) return true;
  if (!sets.changed.test(newer) || sets.also.test(newer)) return false;
  const [later, earlier] = [readTokens(newer, sets), readTokens(older, sets)];
  return isNewValue(compareTokens(alignStart(later, earlier), earlier), hasCopula(newer, older, sets), sets);
}

/** Whether two sentences differ in one value or in a negation only: both may hold, or one of them is wrong. */
export function mayConflict(newer: string, older: string, sets: WordSets): boolean {
  const [later, earlier] = [readTokens(newer, sets), readTokens(older, sets)];
  const isNegation = ({ text }: Token) => sets.negations.has(text);
  if (later.some(isNegation) !== earlier.some(isNegation)) {
    const [a, b] = [later, earlier].map((tokens) => tokens.filter((token) => !isNegation(token)));
    const { common, regions } = compareTokens(a ?? [], b ?? []);
    return common.length >= 2 && regions.every((one) => one.older.length + one.newer.length <= 1);
  }
  const difference = compareTokens(alignStart(later, earlier), earlier);
  return isNewValue(difference, hasCopula(newer, older, sets), sets);
}

/** Auxiliaries of the passive and words for planning: "is on Monday", "is planned for Monday", "was moved to Friday". */
const auxiliaries = new Set(
  "was were been planned scheduled wurde wurden worden geplant angesetzt ete prevu prevue fue fueron sido programado programada stato stata stati state previsto prevista foi foram marcado marcada был была было были запланирован запланирована".split(
    " ",
  ),
);

/** The roots of a sentence's words, without those that only say that something changed. */
function readTokens(sentence: string, sets: WordSets, markers = sets.markers): Token[] {
  return tokenise(stripMarkers(sentence, markers), sets)
    .filter(({ text }) => !auxiliaries.has(text))
    .map((token) => ({ ...token, text: token.root }));
}

function hasCopula(newer: string, older: string, sets: WordSets): boolean {
  if (sets.lexicon.code === "ja" || sets.lexicon.code === "ko") {
    return [newer, older].some((text) => /(?:です|だ|である|입니다|이에요|예요|이다)[.。!！]*$/u.test(text.trim()));
  }
  return sets.copula.test(newer) || sets.copula.test(older);
}

/** German and Russian may begin with the verb after "now": "jetzt benutze ich". */
function alignStart(newer: Token[], older: readonly Token[]): Token[] {
  const [first, second] = newer;
  if (!first || !second || first.text !== older[1]?.text || second.text !== older[0]?.text) return newer;
  return [second, first, ...newer.slice(2)];
}

/** The rule for "now": subject and predicate are the same, one value of the same kind differs, nothing else is lost. */
function isNewValue({ common, regions }: Difference, isCopular: boolean, sets: WordSets): boolean {
  const { code } = sets.lexicon;
  const replaced = regions.filter((one) => one.older.length > 0 && one.newer.length > 0);
  const [value] = replaced;
  if (!value || replaced.length !== 1) return false;
  const dropped = regions.filter((one) => one.newer.length === 0);
  // A word less before the value is another subject: "my sister lives", "I live".
  if (dropped.some((one) => one.after <= value.after)) return false;
  const deleted = dropped.flatMap((one) => one.older);
  if (deleted.length > lightDeletedMax || deleted.some((token) => token.kind !== "word")) return false;
  const inserted = regions.filter((one) => one.older.length === 0).flatMap((one) => one.newer);
  const older = stripComplements(value.older, sets);
  const newer = stripComplements(value.newer, sets);
  if (older.length === 0 || newer.length === 0) return false;
  if (older.length > valueWordsMax || newer.length > valueWordsMax || inserted.length > insertedMax) return false;
  if ([...deleted, ...inserted, ...older, ...newer].some(({ text }) => sets.negations.has(text))) return false;
  const kind = findKind(older);
  if (kind !== findKind(newer) || older[0]?.kind !== newer[0]?.kind) return false;
  // A predicate at the start of both parts is no value: "written in Go", "owned by Lena".
  if (older[0]?.kind === "word" && kind !== "word") return false;
  if (common.some(({ text }) => sets.additive.has(text)) && !(kind === "number" && isCount(older, newer))) return false;
  const before = common.slice(0, value.after);
  const after = common.slice(value.after);
  const isVerbLast = code === "ja" || code === "ko";
  const content = common.filter((token) => !isSpeaker(token));
  if (content.length === 0) return false;
  // A unit may follow a number: "at 10 h", "50 per user".
  if (kind !== "word" && isCopular) return before.length > 0 && (after.length === 0 || kind === "number");
  if (isCopular) {
    // "The key is in the drawer": the preposition is part of what both say.
    return before.length >= 2 && sets.complements.has(before.at(-1)?.text ?? "") && after.length === 0;
  }
  if (isVerbLast) return after.length > 0 && before.length + after.length >= 1;
  const dropsSubject = code === "es" || code === "it" || code === "pt";
  // A subject and a predicate; "my car" is only a subject.
  const told = before.filter(({ text }) => text !== ownToken);
  return told.length >= (dropsSubject && told.length === before.length ? 1 : 2);
}

function isSpeaker({ text }: Token): boolean {
  return text === selfToken || text === ownToken;
}

function isCount(older: readonly Token[], newer: readonly Token[]): boolean {
  return older.length === 1 && newer.length === 1;
}

function stripComplements(tokens: readonly Token[], { complements }: WordSets): Token[] {
  const from = tokens.findIndex(({ text }) => !complements.has(text));
  return from === -1 ? [] : tokens.slice(from);
}

function findKind(tokens: readonly Token[]): Token["kind"] {
  for (const kind of ["number", "date", "name"] as const) if (tokens.some((one) => one.kind === kind)) return kind;
  return "word";
}

/** "I no longer drink coffee": what it speaks about is all in the other sentence, which says little else. */
function saysItEnded(newer: string, older: string, sets: WordSets): boolean {
  const isAbout = ({ text }: Token) => !sets.negations.has(text);
  const later = readTokens(newer, sets, sets.markersAndEdges).filter(isAbout);
  const all = readTokens(older, sets);
  if (all.some((token) => !isAbout(token))) return false;
  const isSelf = isSpeaker;
  if (later.some(isSelf) !== all.some(isSelf)) return false;
  const content = later.filter((token) => !isSelf(token) && !sets.complements.has(token.text));
  if (content.length === 0) return false;
  const known = all.filter((token) => !isSelf(token));
  if (!content.every((token) => known.some((other) => areForms(token.text, other.text)))) return false;
  const left = known.filter((token) => !later.some((other) => areForms(token.text, other.text)));
  return left.length <= content.length + 1 && left.every(isLight);
}

/** A word that names no value: neither a name nor a number. */
function isLight({ text, kind }: Token): boolean {
  return kind === "word" || (kind === "date" && !/\d/.test(text));
}

/** Forms of one word: drink, drinking; работаю, работал. */
function areForms(first: string, second: string): boolean {
  if (first === second) return true;
  // The letters of a Korean syllable are compared one by one.
  const [a, b] = [first.normalize("NFD"), second.normalize("NFD")];
  let common = 0;
  while (common < a.length && common < b.length && a[common] === b[common]) common += 1;
  return common >= prefixLeast && common >= prefixShare * Math.max(a.length, b.length);
}

/** "Helix instead of Vim", "switched from Vim to Helix": the other sentence is about the named value. */
function namesReplacedValue(newer: string, older: string, sets: WordSets): boolean {
  const known = readTokens(older, sets);
  if (known.some(({ text }) => sets.negations.has(text))) return false;
  for (const form of sets.lexicon.replaced) {
    const old = form.exec(newer)?.groups?.old;
    if (old === undefined) continue;
    const named = readTokens(old, sets).filter((token) => !isSpeaker(token));
    if (named.length === 0) continue;
    const isNamed = ({ text }: Token) => named.some((one) => areForms(one.text, text));
    if (!named.every((one) => known.some(({ text }) => areForms(one.text, text)))) continue;
    const later = readTokens(newer, sets);
    const isSelf = isSpeaker;
    const left = known.filter((token) => !isNamed(token) && !isSelf(token) && !sets.complements.has(token.text));
    const isShared = (token: Token) => later.some((other) => areForms(other.text, token.text));
    const isSameSubject = later.some(isSelf) === known.some(isSelf) || left.some(isShared);
    const lost = left.filter((token) => !isShared(token));
    if (isSameSubject && lost.length <= 2 && lost.every(isLight)) return true;
  }
  return false;
}

function compareTokens(newer: readonly Token[], older: readonly Token[]): Difference {
  const lengths = Array.from({ length: newer.length + 1 }, () => new Array<number>(older.length + 1).fill(0));
  const at = (row: number, column: number) => lengths[row]?.[column] ?? 0;
  for (let i = newer.length - 1; i >= 0; i -= 1) {
    for (let j = older.length - 1; j >= 0; j -= 1) {
      const row = lengths[i];
      if (row) row[j] = newer[i]?.text === older[j]?.text ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  const common: Token[] = [];
  const regions: Difference["regions"] = [];
  let region = { older: [] as Token[], newer: [] as Token[], after: 0 };
  const close = () => {
    if (region.older.length + region.newer.length > 0) regions.push(region);
    region = { older: [], newer: [], after: common.length };
  };
  let [i, j] = [0, 0];
  while (i < newer.length || j < older.length) {
    const [x, y] = [newer[i], older[j]];
    if (x && y && x.text === y.text) {
      close();
      common.push(x);
      region.after = common.length;
      i += 1;
      j += 1;
    } else if (x && (!y || at(i + 1, j) >= at(i, j + 1))) {
      region.newer.push(x);
      i += 1;
    } else if (y) {
      region.older.push(y);
      j += 1;
    }
  }
  close();
  return { common, regions };
}

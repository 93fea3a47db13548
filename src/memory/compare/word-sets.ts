import { compileWords, type Lexicon } from "../../text/index.ts";

/** A lexicon in the form that comparisons use: sets and compiled patterns. */
export interface WordSets {
  lexicon: Lexicon;
  empty: ReadonlySet<string>;
  self: ReadonlySet<string>;
  own: ReadonlySet<string>;
  others: ReadonlySet<string>;
  negations: ReadonlySet<string>;
  additive: ReadonlySet<string>;
  complements: ReadonlySet<string>;
  numbers: ReadonlyMap<string, string>;
  synonyms: ReadonlyMap<string, string>;
  fillers: RegExp;
  also: RegExp;
  changed: RegExp;
  ended: RegExp;
  /** The words and phrases of `changed` and `ended`. */
  markers: RegExp;
  /** The same, and the edges of phrases that enclose others: "ne … plus". */
  markersAndEdges: RegExp;
  remarks: RegExp;
  since: RegExp;
  dates: RegExp;
  copula: RegExp;
  /** Splits a sentence at its copula into `left` and `right`. */
  copulaSplit: RegExp;
  segmenter?: Intl.Segmenter;
}

const prepared = new Map<string, WordSets>();

export function prepareWordSets(lexicon: Lexicon): WordSets {
  const known = prepared.get(lexicon.code);
  if (known) return known;
  const list = (words: string) => words.split(" ").filter((one) => one !== "");
  const toSet = (words: string) => new Set(list(words).flatMap((one) => [one, foldAccents(one)]));
  const made: WordSets = {
    lexicon,
    empty: new Set(list(lexicon.empty)),
    own: toSet(lexicon.own),
    others: new Set(list(lexicon.others)),
    self: toSet(lexicon.self),
    negations: toSet(lexicon.negations),
    additive: toSet(lexicon.additive),
    complements: toSet(lexicon.complements.replaceAll("|", " ")),
    numbers: new Map(list(lexicon.numbers).map((word, value) => [word, String(value)])),
    synonyms: new Map(
      list(lexicon.synonyms).flatMap((entry) => {
        const [canonical = "", variants = ""] = entry.split("=");
        return variants.split(",").map((variant): [string, string] => [variant, canonical]);
      }),
    ),
    fillers: compileWords(lexicon.fillers, lexicon, "giu"),
    also: compileWords(lexicon.also, lexicon),
    changed: compileWords(lexicon.changed, lexicon),
    ended: compileWords(lexicon.ended, lexicon),
    markers: compileWords(listMarkers(lexicon, false), lexicon, "giu"),
    markersAndEdges: compileWords(listMarkers(lexicon, true), lexicon, "giu"),
    remarks: lexicon.unspaced
      ? new RegExp(`(?:${lexicon.remarks})`, "iu")
      : new RegExp(`\\s*(?:[,;(]|(?<=\\s)(?:${lexicon.remarks})(?=\\s|$))`, "iu"),
    since: compileWords(lexicon.since, lexicon),
    // Korean particles follow a date without a space.
    dates: compileWords(lexicon.dates, lexicon.code === "ko" ? { unspaced: true } : lexicon),
    copula: compileWords(lexicon.copula, lexicon),
    copulaSplit: new RegExp(
      `^(?<left>.{2,120}?)(?:\\s+(?:${lexicon.copula})\\s+|\\s*[:=]\\s+|\\s+[—–]\\s*)(?<right>\\S.*)$`,
      "iu",
    ),
    ...(lexicon.unspaced ? { segmenter: new Intl.Segmenter(lexicon.code, { granularity: "word" }) } : {}),
  };
  prepared.set(lexicon.code, made);
  return made;
}

/** A wildcard inside an entry of an alternation: only the words at its edges are markers. */
const wildcard = /\.\{\d+,\d+\}/u;

function listMarkers({ changed, ended }: Lexicon, withEdges: boolean): string {
  const entries = splitAlternation(`${ended}|${changed}`);
  const words = entries.flatMap((entry) =>
    wildcard.test(entry) ? (withEdges && isFlat(entry) ? entry.split(wildcard) : []) : [entry],
  );
  const plain = words.map((one) => one.trim()).filter((one) => one !== "");
  return [...new Set(plain)].sort((a, b) => b.length - a.length).join("|");
}

/** An entry whose wildcard is not inside a group. */
function isFlat(entry: string): boolean {
  return entry.split(wildcard).every((part) => part.split("(").length === part.split(")").length);
}

function splitAlternation(text: string): string[] {
  const entries: string[] = [];
  let [depth, from] = [0, 0];
  for (let at = 0; at < text.length; at += 1) {
    if (text[at] === "(") depth += 1;
    else if (text[at] === ")") depth -= 1;
    else if (text[at] === "|" && depth === 0) {
      entries.push(text.slice(from, at));
      from = at + 1;
    }
  }
  entries.push(text.slice(from));
  return entries;
}

/** Removes words that say that something changed. A capital within a text begins a name: "New York" stays. */
export function stripMarkers(text: string, markers: RegExp, isSentence = true): string {
  return text.replaceAll(markers, (match: string, at: number) =>
    /^\p{Lu}/u.test(match) && !(isSentence && text.slice(0, at).trim() === "") ? match : " ",
  );
}

/** Accents are often left out. */
export function foldAccents(word: string): string {
  return /^[\p{Script=Latin}\p{N}'’./_-]+$/u.test(word) ? word.normalize("NFD").replaceAll(/\p{M}/gu, "") : word;
}

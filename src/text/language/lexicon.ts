/** The attributes of which a thing or person has one at a time, and the kind of value that fills each. */
export const attributes = {
  port: "number",
  owner: "name",
  email: "email",
  phone: "number",
  address: "any",
  name: "name",
  nickname: "name",
  username: "code",
  password: "code",
  code: "code",
  version: "code",
  price: "number",
  rent: "number",
  salary: "number",
  budget: "number",
  deadline: "date",
  birthday: "date",
  age: "number",
  weight: "number",
  height: "number",
  size: "code",
  boss: "name",
  lead: "name",
  doctor: "name",
  landlord: "name",
  spouse: "name",
  currency: "any",
  timezone: "any",
  url: "any",
  host: "code",
  limit: "number",
  timeout: "number",
  room: "code",
  plate: "code",
  location: "any",
  branch: "any",
  target: "any",
  colour: "any",
  capital: "name",
  interval: "any",
  language: "any",
  provider: "name",
  time: "date",
} as const satisfies Record<string, ValueKind>;

export type Attribute = keyof typeof attributes;
export type ValueKind = "number" | "name" | "email" | "code" | "date" | "any";

/** The slots of a person that sentences fill with verbs instead of nouns. */
export type PersonSlot = "residence" | "employer" | "occupation" | "name" | "age" | "birthday" | "origin" | "car";
export type Slot = Attribute | PersonSlot | "favourite";

export type SentencePattern = Pick<RegExp, "exec">;

/** A pattern that is compiled when it is first used. Compiling those of all languages would delay every command. */
export function delayPattern(source: string, flags: string): SentencePattern {
  let compiled: RegExp | undefined;
  return {
    exec(text) {
      compiled ??= new RegExp(source, flags);
      return compiled.exec(text);
    },
  };
}

/**
 * The words of a language for the comparison of facts. Alternations are sources of regular expressions without
 * capturing groups; the groups of patterns are `who`, `about`, `value` and `old`.
 */
export interface Lexicon {
  code: string;
  /** Frequent words that tell the language from others in the same script; empty for a script of its own. */
  marks: string;
  /** Written without spaces: words come from a segmenter. */
  unspaced?: boolean;
  /** Contractions and their long forms. */
  expansions: readonly (readonly [RegExp, string])[];
  /** Words that a comparison ignores: articles, copulas, particles. */
  empty: string;
  /** Phrases that a comparison ignores: politeness, emphasis, requests to remember. */
  fillers: string;
  /** Words for the speaker; all mean the same in a comparison. */
  self: string;
  /** Words for what belongs to the speaker. */
  own: string;
  /** Pronouns for others, which only their conversation explains. */
  others: string;
  /** Words of questions and requests that say nothing about their subject, and other frequent words. */
  asking: string;
  negations: string;
  /** Number words from zero on. */
  numbers: string;
  /** Variants of a word, `canonical=variant,variant`, separated by spaces. */
  synonyms: string;
  /** Between a subject and its value. */
  copula: string;
  /** Where the head noun of a subject stands: before its complements (French) or after them (English, Chinese). */
  head: "first" | "last";
  /** Words that begin the complement of a head noun: prepositions and genitive articles. */
  complements: string;
  attributes: Partial<Record<Attribute, string>>;
  /** A favourite, with the groups `about` and `value`. */
  favourites: readonly SentencePattern[];
  /** Sentences that fill a slot, with the groups `value` and, when the subject is not the speaker, `who`. */
  facts: readonly (readonly [Slot, SentencePattern])[];
  /** Says that something holds in addition. */
  also: string;
  /** Says that something is different from before. */
  changed: string;
  /** Says that something is over. */
  ended: string;
  /** Names the replaced value, with the group `old`. */
  replaced: readonly SentencePattern[];
  /** Verbs whose objects add up: having, liking, knowing, allergies. */
  additive: string;
  /** Words after which a value has ended and a remark begins. */
  remarks: string;
  /** Words that begin a remark about since when. */
  since: string;
  /** Weekdays, months and words for days and times. */
  dates: string;
}

/** Matches whole words of an alternation in scripts with spaces, and anywhere in others. */
export function compileWords(alternation: string, { unspaced }: Pick<Lexicon, "unspaced">, flags = "iu"): RegExp {
  return new RegExp(
    unspaced ? `(?:${alternation})` : `(?<![\\p{L}\\p{N}_-])(?:${alternation})(?![\\p{L}\\p{N}_-])`,
    flags,
  );
}

import { isStopWord } from "../../domain/index.ts";
import { stem } from "./stem.ts";
import { extractTerms, fold, isUnspaced, splitWords } from "./words.ts";

/** One thing a query looks for: the term documents are compared by, and the phrase the text index takes for it. */
export interface QueryTerm {
  term: string;
  phrase: string;
  /** Says how to answer, not what is asked. */
  asking: boolean;
  /** Part of an exact name: a path, a hash, a ticket number, UPPER_SNAKE. */
  identifier: boolean;
}

export interface ParsedQuery {
  /** The query without its operators: what a model embeds. */
  text: string;
  terms: QueryTerm[];
  /** Quoted phrases: all must be there. */
  required: string[];
  /** `-word`: none may be there. */
  excluded: string[];
  /** Names that are searched whole as well as in parts. */
  identifiers: string[];
  /** The last word of a query that is still being typed. */
  prefix?: string;
  aboutSelf: boolean;
  /** `proj:varve` and the like filter instead of matching words. */
  tags: { name: string; value: string }[];
}

const termsMax = 48;
const tagNames = /^(proj|env|team|scope):(\S+)$/;
const token = /-?"[^"]*"|\S+/g;
/** Words joined by the marks of code and of tickets, with a digit, a capital run, or a path in them. */
const identifierShape =
  /^(?=.*[\p{L}\p{N}])(?:[A-Z0-9]+(?:_[A-Z0-9]+)+|\p{L}+-\d+|[\p{L}\p{N}._-]*\/[\p{L}\p{N}./_-]+|(?=.*\d)[0-9a-f]{7,64}|[\p{L}\p{N}]+(?:[._][\p{L}\p{N}]+)+)$/u;

/** Reads a query as a person types it. Nothing in it is ever syntax of an index. */
export function parseQuery(query: string, options: { interactive?: boolean } = {}): ParsedQuery {
  const required: string[] = [];
  const excluded: string[] = [];
  const tags: ParsedQuery["tags"] = [];
  const identifiers: string[] = [];
  const plain: string[] = [];
  for (const [part] of query.toWellFormed().replaceAll("\u0000", " ").matchAll(token)) {
    const negative = /^-(?=["\p{L}\p{N}])/u.test(part);
    const body = negative ? part.slice(1) : part;
    const tag = tagNames.exec(body);
    const phrase = /^"([^"]*)"$/.exec(body)?.[1];
    if (tag?.[1] && tag[2]) tags.push({ name: tag[1], value: tag[2] });
    else if (negative) pushPhrase(excluded, phrase ?? body);
    else if (phrase !== undefined) {
      pushPhrase(required, phrase);
      plain.push(phrase);
    } else {
      const bare = body.replace(/^[("'[{]+|[)"'\]},.;:!?]+$/g, "");
      if (identifierShape.test(bare)) pushPhrase(identifiers, bare);
      plain.push(body.replaceAll('"', " "));
    }
  }
  const text = plain.join(" ").trim();
  // In a sentence a quoted title is a name; alone or beside a word or two it is a demand.
  if (isSentence(query, words(plain))) identifiers.push(...required.splice(0));
  const named = new Set(identifiers.flatMap((name) => name.split(" ").map(stem)));
  const spoken = splitWords(text);
  const prefix = options.interactive && /[\p{L}\p{N}]$/u.test(query) ? lastWord(spoken) : undefined;
  return {
    text,
    terms: queryTerms(spoken, named),
    required,
    excluded,
    identifiers,
    ...(prefix === undefined ? {} : { prefix }),
    aboutSelf: asksAboutSelf(spoken),
    tags,
  };
}

const sentenceWords = 6;

function isSentence(query: string, count: number): boolean {
  return count >= sentenceWords || (/[?？]\s*$/.test(query) && count > 3);
}

function words(parts: readonly string[]): number {
  return parts.reduce((sum, part) => sum + splitWords(part).length, 0);
}

function queryTerms(words: string[], named: ReadonlySet<string>): QueryTerm[] {
  const terms = new Map<string, QueryTerm>();
  const add = (term: string, phrase: string) => {
    if (terms.size >= termsMax || terms.has(term)) return;
    terms.set(term, { term, phrase, asking: isAsking(term), identifier: named.has(term) });
  };
  const content = words.filter((word) => !isStopWord(word));
  // A question of stop words only ("who are you") is still a question: then they are all there is.
  const used = content.length > 0 ? content : words;
  for (const [index, word] of used.entries()) {
    const next = used[index + 1];
    if (isUnspaced(word) && next !== undefined && isUnspaced(next)) add(word + next, `${word} ${next}`);
    add(stem(word), word);
  }
  return [...terms.values()];
}

/** Two letters are the least that narrow anything down. */
function lastWord(words: string[]): string | undefined {
  const last = words.at(-1);
  return last !== undefined && last.length >= 2 && !isUnspaced(last) ? last : undefined;
}

/** A phrase as the text index holds it: its words with single spaces between. */
function pushPhrase(list: string[], phrase: string): void {
  const words = splitWords(fold(phrase)).join(" ");
  if (words !== "") list.push(words);
}

/** What of a query its vector is made from: phrases that must be there and words that must not are left to words. */
export function embeddedText(query: string): string {
  return parseQuery(query, {}).text;
}

/** Words of a question that say what to do with the answer or point at the conversation itself. */
const asking = new Set(
  extractTerms(
    `please tell list mention mentioned show give given explain describe summary summarize summarise overview comprehensive
    detailed order sequence chronological brought bring raise raised discuss discussed discussing discussion talk talked
    talking conversation conversational chat session throughout across different various aspect item walk provide
    remember recall remind know include including regarding related overall kind type thing question answer ask asked
    exactly clearly briefly`,
  ),
);

const firstPerson = new Set(
  "i me my mine myself we us our ours ich mir mich mein meine wir unser je moi mon ma mes nous notre yo mi mis nosotros 我 我们".split(
    " ",
  ),
);

export function isAsking(term: string): boolean {
  return asking.has(term);
}

/** Whether whoever asks asks about themselves; what a person said is then the likeliest answer. */
export function asksAboutSelf(words: readonly string[]): boolean {
  return words.some((word) => firstPerson.has(word));
}

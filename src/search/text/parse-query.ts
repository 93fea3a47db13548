import { isStopWord } from "../../domain/index.ts";
import { type QuestionKind, readQuestionKind } from "./question-kind.ts";
import { stem } from "./stem.ts";
import { extractTerms, fold, isUnspaced, splitWords } from "./words.ts";

/** One term of a query, and the phrase that the text index is queried with for it. */
export interface QueryTerm {
  term: string;
  phrase: string;
  /** An instruction ("list", "summary"), not a part of the subject. */
  isInstruction: boolean;
  /** Part of an identifier: a path, a hash, a ticket number, UPPER_SNAKE. */
  identifier: boolean;
}

export interface ParsedQuery extends QuestionKind {
  /** The query without its operators; this text is embedded. */
  text: string;
  terms: QueryTerm[];
  /** Quoted phrases: all must match. */
  required: string[];
  /** `-word`: none may match. */
  excluded: string[];
  /** Identifiers; they are searched as a whole and in parts. */
  identifiers: string[];
  /** The last word of a query that is still being typed. */
  prefix?: string;
  /** `proj:varve` and the like filter instead of matching words. */
  tags: { name: string; value: string }[];
}

const termsMax = 48;
const tagNames = /^(proj|env|team|scope):(\S+)$/;
const token = /-?"[^"]*"|\S+/g;
/** Words joined by the punctuation of code and tickets that contain a digit, several capitals, or a path. */
const identifierShape =
  /^(?=.*[\p{L}\p{N}])(?:[A-Z0-9]+(?:_[A-Z0-9]+)+|\p{L}+-\d+|[\p{L}\p{N}._-]*\/[\p{L}\p{N}./_-]+|(?=.*\d)[0-9a-f]{7,64}|[\p{L}\p{N}]+(?:[._][\p{L}\p{N}]+)+)$/u;

/** Parses a query typed by a person. No input is ever interpreted as syntax of the text index. */
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
      const bare = body.replace(/^[("'[{]+|(?<![)"'\]},.;:!?])[)"'\]},.;:!?]+$/g, "");
      if (identifierShape.test(bare)) pushPhrase(identifiers, bare);
      plain.push(body.replaceAll('"', " "));
    }
  }
  const text = plain.join(" ").trim();
  // In a sentence a quoted title is a name; in a short query it is a required phrase.
  if (isSentence(query, countWords(plain))) identifiers.push(...required.splice(0));
  const named = new Set(identifiers.flatMap((name) => name.split(" ").map(stem)));
  const spoken = splitWords(text);
  const prefix = options.interactive && /[\p{L}\p{N}]$/u.test(query) ? findLastWord(spoken) : undefined;
  return {
    text,
    terms: makeQueryTerms(spoken, named),
    required,
    excluded,
    identifiers,
    ...(prefix === undefined ? {} : { prefix }),
    ...readQuestionKind(spoken),
    tags,
  };
}

const sentenceWords = 6;

function isSentence(query: string, count: number): boolean {
  return count >= sentenceWords || (/[?？]\s*$/.test(query) && count > 3);
}

function countWords(parts: readonly string[]): number {
  return parts.reduce((sum, part) => sum + splitWords(part).length, 0);
}

function makeQueryTerms(words: string[], named: ReadonlySet<string>): QueryTerm[] {
  const terms = new Map<string, QueryTerm>();
  const add = (term: string, phrase: string) => {
    if (terms.size >= termsMax || terms.has(term)) return;
    terms.set(term, { term, phrase, isInstruction: isInstructionWord(term), identifier: named.has(term) });
  };
  const content = words.filter((word) => !isStopWord(word));
  // A query of stop words only ("who are you") is searched by its stop words.
  const used = content.length > 0 ? content : words;
  for (const [index, word] of used.entries()) {
    const next = used[index + 1];
    if (isUnspaced(word) && next !== undefined && isUnspaced(next)) add(word + next, `${word} ${next}`);
    add(stem(word), word);
  }
  return [...terms.values()];
}

/** The last word, as a prefix; shorter than two letters it would match too much. */
function findLastWord(words: string[]): string | undefined {
  const last = words.at(-1);
  return last !== undefined && last.length >= 2 && !isUnspaced(last) ? last : undefined;
}

/** Adds a phrase in the form of the text index: its words separated by single spaces. */
function pushPhrase(list: string[], phrase: string): void {
  const words = splitWords(fold(phrase)).join(" ");
  if (words !== "") list.push(words);
}

/** The text of a query that is embedded: without operators and excluded words. */
export function selectEmbeddedText(query: string): string {
  return parseQuery(query, {}).text;
}

/** Words of a question that instruct, or refer to the conversation itself. */
const instructionWords = new Set(
  extractTerms(
    `please tell list mention mentioned show give given explain describe summary summarize summarise overview comprehensive
    detailed order sequence chronological brought bring raise raised discuss discussed discussing discussion talk talked
    talking conversation conversational chat session throughout across different various aspect item walk provide
    remember recall remind know include including regarding related overall kind type thing question answer ask asked
    exactly clearly briefly`,
  ),
);

function isInstructionWord(term: string): boolean {
  return instructionWords.has(term);
}

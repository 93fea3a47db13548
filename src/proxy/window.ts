import { estimateTokens } from "../index.ts";

/** A model's context window. */
export interface KnownWindow {
  tokens: number;
  /** Whether the provider counts the maximum answer as part of the prompt. */
  countsAnswer: boolean;
}

/** The numbers in a context overflow error. */
export interface Overflow {
  windowTokens?: number;
  /** The prompt tokens that the provider counted. */
  promptTokens?: number;
  countsAnswer: boolean;
}

const parseCount = (text: string | undefined): number | undefined => {
  const value = Number((text ?? "").replaceAll(/[,_]/g, ""));
  return text !== undefined && Number.isSafeInteger(value) && value > 0 ? value : undefined;
};

const n = "([\\d,_]+)";
/** The error texts of providers with their numbers. Gaps are bounded, so that matching takes linear time. */
const phrasings: readonly (readonly [RegExp, (found: RegExpExecArray) => Overflow])[] = [
  [
    new RegExp(`exceed context limit:\\s*${n}\\s*\\+\\s*${n}\\s*>\\s*${n}`, "i"),
    (found) => ({ promptTokens: parseCount(found[1]), windowTokens: parseCount(found[3]), countsAnswer: true }),
  ],
  [
    new RegExp(`prompt is too long:\\s*${n} tokens >\\s*${n}`, "i"),
    (found) => ({ promptTokens: parseCount(found[1]), windowTokens: parseCount(found[2]), countsAnswer: false }),
  ],
  [
    new RegExp(`maximum context length is ${n} tokens.{0,80}?requested ${n} tokens \\(${n} in the messages`, "is"),
    (found) => ({ windowTokens: parseCount(found[1]), promptTokens: parseCount(found[3]), countsAnswer: true }),
  ],
  [
    new RegExp(`maximum context length is ${n} tokens(?:.{0,80}?resulted in ${n} tokens)?`, "is"),
    (found) => ({ windowTokens: parseCount(found[1]), promptTokens: parseCount(found[2]), countsAnswer: false }),
  ],
  [
    new RegExp(`request \\(${n} tokens\\) exceeds the available context size \\(${n} tokens\\)`, "i"),
    (found) => ({ promptTokens: parseCount(found[1]), windowTokens: parseCount(found[2]), countsAnswer: false }),
  ],
  [
    new RegExp(`maximum prompt length is ${n}(?:.{0,60}?contains ${n} tokens)?`, "is"),
    (found) => ({ windowTokens: parseCount(found[1]), promptTokens: parseCount(found[2]), countsAnswer: false }),
  ],
  [
    new RegExp(
      `input token count(?: is)? \\(?${n}\\)?.{0,60}?(?:maximum number of tokens allowed|up to) \\(?${n}`,
      "is",
    ),
    (found) => ({ promptTokens: parseCount(found[1]), windowTokens: parseCount(found[2]), countsAnswer: false }),
  ],
];

/** Reads the numbers in an error that is known to be a context overflow. */
export function readOverflow(text: string): Overflow {
  for (const [pattern, read] of phrasings) {
    const found = pattern.exec(text.slice(0, 20_000));
    if (found) return read(found);
  }
  return { countsAnswer: false };
}

/** Without a number in the error, the window is assumed to be this share of the refused prompt. */
const shareOfRefused = 0.9;
/** Smaller windows in an error are implausible and ignored. */
const windowTokensMin = 1_000;

/** The context windows of models, from the settings and from overflow errors. */
export class ModelWindows {
  readonly #set: number | undefined;
  readonly #fallback: number | undefined;
  readonly #learned = new Map<string, KnownWindow>();

  /** `fallback` applies to models whose window was not learned. */
  constructor(setTokens: number | undefined, fallback?: number) {
    this.#set = setTokens;
    this.#fallback = fallback;
  }

  get(model: string): KnownWindow | undefined {
    const learned = this.#learned.get(model);
    if (this.#set === undefined) {
      return learned ?? (this.#fallback === undefined ? undefined : { tokens: this.#fallback, countsAnswer: false });
    }
    return { tokens: Math.min(this.#set, learned?.tokens ?? this.#set), countsAnswer: learned?.countsAnswer ?? false };
  }

  learn(model: string, overflow: Overflow, sentTokens: number): void {
    const before = this.#learned.get(model);
    const guessed = Math.floor(Math.min(before?.tokens ?? Number.POSITIVE_INFINITY, sentTokens) * shareOfRefused);
    const tokens = overflow.windowTokens ?? guessed;
    if (tokens < windowTokensMin) return;
    this.#learned.set(model, { tokens, countsAnswer: overflow.countsAnswer || before?.countsAnswer === true });
  }
}

const answerShare = 0.25;
const answerShareMax = 0.75;
const answerTokensDefault = 4_096;

/** Returns the part of a window that the prompt may use. */
export function computePromptBudget(window: KnownWindow, maxTokens: number | undefined): number {
  const share = window.countsAnswer ? answerShareMax : answerShare;
  const answer = Math.min(maxTokens ?? answerTokensDefault, Math.floor(window.tokens * share));
  return window.tokens - answer;
}

/** Estimates a text that is the same in every request, such as a system prompt; counts it once. */
export function createCachedEstimate(): (text: string) => number {
  let last = "";
  let tokens = 0;
  return (text) => {
    if (text !== last) [last, tokens] = [text, estimateTokens(text)];
    return tokens;
  };
}

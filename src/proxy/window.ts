import { estimateTokens } from "../engine.ts";

/** What is known of a model's window. */
export interface KnownWindow {
  tokens: number;
  /** Whether the provider adds what the answer may take to the prompt before it compares. */
  countsAnswer: boolean;
}

/** What an error says about a prompt that was too long. */
export interface Overflow {
  windowTokens?: number;
  /** What the provider counted for the prompt. */
  promptTokens?: number;
  countsAnswer: boolean;
}

const number = (text: string | undefined): number | undefined => {
  const value = Number((text ?? "").replaceAll(/[,_]/g, ""));
  return text !== undefined && Number.isSafeInteger(value) && value > 0 ? value : undefined;
};

const n = "([\\d,_]+)";
/** Each provider's phrasing with the places of its numbers. A gap has a bound, so that no text is slow to read. */
const phrasings: readonly (readonly [RegExp, (found: RegExpExecArray) => Overflow])[] = [
  [
    new RegExp(`exceed context limit:\\s*${n}\\s*\\+\\s*${n}\\s*>\\s*${n}`, "i"),
    (found) => ({ promptTokens: number(found[1]), windowTokens: number(found[3]), countsAnswer: true }),
  ],
  [
    new RegExp(`prompt is too long:\\s*${n} tokens >\\s*${n}`, "i"),
    (found) => ({ promptTokens: number(found[1]), windowTokens: number(found[2]), countsAnswer: false }),
  ],
  [
    new RegExp(`maximum context length is ${n} tokens.{0,80}?requested ${n} tokens \\(${n} in the messages`, "is"),
    (found) => ({ windowTokens: number(found[1]), promptTokens: number(found[3]), countsAnswer: true }),
  ],
  [
    new RegExp(`maximum context length is ${n} tokens(?:.{0,80}?resulted in ${n} tokens)?`, "is"),
    (found) => ({ windowTokens: number(found[1]), promptTokens: number(found[2]), countsAnswer: false }),
  ],
  [
    new RegExp(`request \\(${n} tokens\\) exceeds the available context size \\(${n} tokens\\)`, "i"),
    (found) => ({ promptTokens: number(found[1]), windowTokens: number(found[2]), countsAnswer: false }),
  ],
  [
    new RegExp(`maximum prompt length is ${n}(?:.{0,60}?contains ${n} tokens)?`, "is"),
    (found) => ({ windowTokens: number(found[1]), promptTokens: number(found[2]), countsAnswer: false }),
  ],
  [
    new RegExp(
      `input token count(?: is)? \\(?${n}\\)?.{0,60}?(?:maximum number of tokens allowed|up to) \\(?${n}`,
      "is",
    ),
    (found) => ({ promptTokens: number(found[1]), windowTokens: number(found[2]), countsAnswer: false }),
  ],
];

/** The numbers in an error that is known to be about the length of a prompt. */
export function readOverflow(text: string): Overflow {
  for (const [pattern, read] of phrasings) {
    const found = pattern.exec(text.slice(0, 20_000));
    if (found) return read(found);
  }
  return { countsAnswer: false };
}

/** When an error gives no number, a little less than what was refused is taken for the window. */
const shareOfRefused = 0.9;
/** Windows that are not are the word of a server that is mistaken. */
const windowLeast = 1_000;

/** The windows of models: what the settings say, and what providers said when something was too long. */
export class Windows {
  readonly #set: number | undefined;
  readonly #otherwise: number | undefined;
  readonly #learned = new Map<string, KnownWindow>();

  /** `otherwise` is taken for models of which nothing was learned. */
  constructor(setTokens: number | undefined, otherwise?: number) {
    this.#set = setTokens;
    this.#otherwise = otherwise;
  }

  of(model: string): KnownWindow | undefined {
    const learned = this.#learned.get(model);
    if (this.#set === undefined) {
      return learned ?? (this.#otherwise === undefined ? undefined : { tokens: this.#otherwise, countsAnswer: false });
    }
    return { tokens: Math.min(this.#set, learned?.tokens ?? this.#set), countsAnswer: learned?.countsAnswer ?? false };
  }

  learn(model: string, overflow: Overflow, sentTokens: number): void {
    const before = this.#learned.get(model);
    const guessed = Math.floor(Math.min(before?.tokens ?? Number.POSITIVE_INFINITY, sentTokens) * shareOfRefused);
    const tokens = overflow.windowTokens ?? guessed;
    if (tokens < windowLeast) return;
    this.#learned.set(model, { tokens, countsAnswer: overflow.countsAnswer || before?.countsAnswer === true });
  }
}

const answerShare = 0.25;
const answerShareMost = 0.75;
const answerTokensDefault = 4_096;

/** What of a window is for the prompt. */
export function promptRoom(window: KnownWindow, maxTokens: number | undefined): number {
  const share = window.countsAnswer ? answerShareMost : answerShare;
  const answer = Math.min(maxTokens ?? answerTokensDefault, Math.floor(window.tokens * share));
  return window.tokens - answer;
}

/** The estimate of a text that is the same with every request, such as a system prompt: counted once. */
export function rememberedEstimate(): (text: string) => number {
  let last = "";
  let tokens = 0;
  return (text) => {
    if (text !== last) [last, tokens] = [text, estimateTokens(text)];
    return tokens;
  };
}

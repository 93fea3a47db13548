import { VarveError } from "../domain/index.ts";
import { estimateTokens } from "../tokens/index.ts";
import type { Generated, GenerateRequest, TokenUsage } from "./generate.ts";
import { loadPackage } from "./packages.ts";
import type { SdkModel } from "./sdk.ts";
import { warningsInto } from "./warnings.ts";

/** An answer is read this many times further than it is of use, so that what is wrong with it can still be seen. */
const overlongFactor = 2;
/** What a model may think before it answers, where its thoughts are sent along. */
const thoughtCharactersMax = 400_000;
/** How much text comes in between two looks at its length. */
const lookEvery = 2_000;

/** Asks a model of the AI SDK once and reads its answer as it comes, no further than it can be of use. */
export async function streamAnswer(model: SdkModel, request: GenerateRequest): Promise<Generated> {
  const { streamText, wrapLanguageModel } = await loadPackage("ai", () => import("ai"));
  const warnings: string[] = [];
  const reading = new AbortController();
  const { signal } = request;
  const result = streamText({
    model: wrapLanguageModel({ model, middleware: warningsInto(warnings) }),
    instructions: request.system,
    prompt: request.user,
    temperature: request.temperature,
    maxOutputTokens: request.maxTokens,
    // Attempts are counted, spaced and recorded by the chain.
    maxRetries: 0,
    abortSignal: signal === undefined ? reading.signal : AbortSignal.any([signal, reading.signal]),
    // Errors come out of the stream as well; the default would print them, and what they quote.
    onError: () => undefined,
  });
  const answer = new Answer(request.maxTokens);
  try {
    for await (const part of result.stream) {
      if (part.type === "error") throw part.error;
      if (part.type === "abort") throw signal?.reason ?? new DOMException(part.reason ?? "stopped", "AbortError");
      if (part.type === "text-delta") answer.addText(part.text);
      else if (part.type === "reasoning-delta") answer.addThought(part.text);
      else if (part.type === "finish") answer.finish(part);
      if (answer.isOverlong) break;
    }
  } finally {
    // Whatever ended the reading, nothing more is to come in.
    reading.abort();
  }
  const done = answer.done();
  return warnings.length === 0 ? done : { ...done, notes: [...warnings, ...(done.notes ?? [])] };
}

interface Finish {
  finishReason: string;
  rawFinishReason: string | undefined;
  totalUsage: { inputTokens: number | undefined; outputTokens: number | undefined };
}

class Answer {
  isOverlong = false;
  readonly #tokensMax: number;
  #text = "";
  #thoughtCharacters = 0;
  #lookedAt = 0;
  #finish: Finish | undefined;

  constructor(maxTokens: number) {
    this.#tokensMax = overlongFactor * maxTokens;
  }

  addText(text: string): void {
    this.#text += text;
    if (this.#text.length - this.#lookedAt < lookEvery) return;
    this.#lookedAt = this.#text.length;
    this.isOverlong = estimateTokens(this.#text) > this.#tokensMax;
  }

  addThought(text: string): void {
    this.#thoughtCharacters += text.length;
    this.isOverlong ||= this.#thoughtCharacters > thoughtCharactersMax;
  }

  finish(finish: Finish): void {
    this.#finish = finish;
  }

  done(): Generated {
    const text = this.#text.trim();
    if (this.isOverlong) {
      if (text === "") throw useless("The model thought on and on without an answer.", false);
      return { text, notes: [`The answer was read up to ${estimateTokens(text)} tokens and was not at its end.`] };
    }
    const finish = this.#finish;
    if (finish?.finishReason === "content-filter") throw useless("The provider's filter held the answer back.", false);
    // A stream that ends without its last word was cut, even if the connection was closed in good order.
    if (finish?.rawFinishReason === undefined) throw useless("The answer was cut before its end.", true);
    const isFull = finish.finishReason === "length";
    if (text === "") throw useless("The answer is empty.", !isFull);
    return {
      text,
      usage: usageOf(finish),
      ...(isFull ? { notes: ["The answer reached its bound and was cut there by the provider."] } : {}),
    };
  }
}

function useless(message: string, retry: boolean): VarveError {
  return new VarveError("MODEL_FAILED", message, { details: { retry } });
}

function usageOf({ totalUsage: { inputTokens, outputTokens } }: Finish): TokenUsage | undefined {
  if (inputTokens === undefined && outputTokens === undefined) return undefined;
  return { inputTokens: inputTokens ?? 0, outputTokens: outputTokens ?? 0 };
}

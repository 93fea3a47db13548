import { VarveError } from "../domain/index.ts";
import { estimateTokens } from "../text/index.ts";
import type { GeneratedText, GenerateRequest, TokenUsage } from "./generate.ts";
import type { SdkModel } from "./sdk.ts";
import { collectWarnings, loadPackage } from "./sdk.ts";

/** An answer is read up to this multiple of its useful length, so that the fault can be diagnosed. */
const overlongFactor = 2;
/** Limit of reasoning before the answer, for models that send it. */
const thoughtCharactersMax = 400_000;
/** The length is checked each time this many characters have arrived. */
const checkEveryCharacters = 2_000;

/** Calls a model of the AI SDK once and reads the stream, but not much further than it is useful. */
export async function streamAnswer(model: SdkModel, request: GenerateRequest): Promise<GeneratedText> {
  const { streamText, wrapLanguageModel } = await loadPackage("ai", () => import("ai"));
  const warnings: string[] = [];
  const reading = new AbortController();
  const { signal } = request;
  const result = streamText({
    model: wrapLanguageModel({ model, middleware: collectWarnings(warnings) }),
    instructions: request.system,
    prompt: request.user,
    temperature: request.temperature,
    maxOutputTokens: request.maxTokens,
    // The chain does retries and records them.
    maxRetries: 0,
    abortSignal: signal === undefined ? reading.signal : AbortSignal.any([signal, reading.signal]),
    // Errors are also in the stream; the default handler would print them, including secrets they quote.
    onError: () => undefined,
  });
  const answer = new AnswerReader(request.maxTokens);
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
    // However reading ended, the stream is closed.
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

class AnswerReader {
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
    if (this.#text.length - this.#lookedAt < checkEveryCharacters) return;
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

  done(): GeneratedText {
    const text = this.#text.trim();
    if (this.isOverlong) {
      if (text === "") throw uselessAnswerError("The model kept reasoning without an answer.", false);
      return {
        text,
        notes: [`The answer was still not complete after ${estimateTokens(text)} tokens and was truncated.`],
      };
    }
    const finish = this.#finish;
    if (finish?.finishReason === "content-filter")
      throw uselessAnswerError("The provider's content filter blocked the answer.", false);
    // A stream without a finish reason was interrupted, even if the connection closed normally.
    if (finish?.rawFinishReason === undefined) throw uselessAnswerError("The answer was interrupted.", true);
    const isFull = finish.finishReason === "length";
    if (text === "") throw uselessAnswerError("The answer is empty.", !isFull);
    return {
      text,
      usage: toUsage(finish),
      ...(isFull ? { notes: ["The answer reached its length limit and was truncated by the provider."] } : {}),
    };
  }
}

function uselessAnswerError(message: string, retry: boolean): VarveError {
  return new VarveError("MODEL_FAILED", message, { details: { retry } });
}

function toUsage({ totalUsage: { inputTokens, outputTokens } }: Finish): TokenUsage | undefined {
  if (inputTokens === undefined && outputTokens === undefined) return undefined;
  return { inputTokens: inputTokens ?? 0, outputTokens: outputTokens ?? 0 };
}

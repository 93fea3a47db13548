import type { ReplyPart } from "./reply.ts";
import type { SdkMessage } from "./sdk-messages.ts";

/** The parameters of a call to a language model of the AI SDK; the fields that are used here are the same in 6 and 7. */
export interface CallParams {
  prompt: SdkMessage[];
  maxOutputTokens?: number;
  tools?: unknown;
}

export interface CallResult {
  content: ReplyPart[];
  usage?: unknown;
  finishReason?: unknown;
}

export interface StreamResult {
  stream: ReadableStream<ReplyPart>;
}

export interface CalledModel {
  provider: string;
  modelId: string;
  doGenerate(params: CallParams): PromiseLike<CallResult>;
  doStream(params: CallParams): PromiseLike<StreamResult>;
}

/**
 * A middleware for `wrapLanguageModel`. Versions 6 and 7 of the AI SDK give it different types for the same fields;
 * these types fit both, so that this package depends on neither.
 */
export interface VarveMiddleware {
  readonly specificationVersion: never;
  transformParams(options: unknown): Promise<never>;
  wrapGenerate(options: unknown): Promise<never>;
  wrapStream(options: unknown): Promise<never>;
}

/** The arguments of `prepareStep`; version 6 has neither the initial nor the response messages. */
export interface StepOptions {
  messages: SdkMessage[];
  initialMessages?: SdkMessage[];
  responseMessages?: SdkMessage[];
  experimental_steeringMessages?: SdkMessage[];
  instructions?: unknown;
  model?: unknown;
}

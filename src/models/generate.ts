/** The purpose of a model call; each has its own chain of models and budget. */
export type GeneratePurpose = "summary" | "largeFile" | "expansion" | "memory";

/** A single request to a model. */
export interface GenerateRequest {
  purpose: GeneratePurpose;
  system: string;
  user: string;
  temperature: number;
  /** The maximum useful length of the answer, in tokens. */
  maxTokens: number;
  /** For a summary: how brief it must be. */
  level?: "normal" | "aggressive";
  signal?: AbortSignal;
}

export interface TokenUsage {
  inputTokens: number;
  outputTokens: number;
  /** The input tokens that the provider read from its cache. */
  cachedInputTokens?: number;
  /** The estimated input tokens of the stable prefix, which a provider's cache can hold. */
  cacheableInputTokens?: number;
}

export interface GeneratedText {
  text: string;
  /** `anthropic/claude-haiku-4-5` */
  model?: string;
  /** Absent when the provider did not report it. */
  usage?: TokenUsage;
  /** Notes about truncated, skipped or retried work. */
  notes?: string[];
}

/** Calls a model, including retries, fallback models and timeouts. A program may supply its own. */
export type Generate = (request: GenerateRequest) => Promise<string | GeneratedText>;

/** A maximum of calls a day, by the calendar of a time zone, for everything that counts under one name. */
export interface DailyCap {
  /** The name in the ledger: `claude-cli`. */
  name: string;
  callsMax: number;
  timeZone: string;
}

/** One model, called exactly once per request; failures are thrown unchanged. */
export interface NamedModel {
  /** `anthropic/claude-haiku-4-5` */
  name: string;
  /** A cap that the chain checks before each call. */
  dailyCap?: DailyCap;
  call(request: GenerateRequest): Promise<GeneratedText>;
}

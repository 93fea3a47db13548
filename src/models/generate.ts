/** What a model is asked for; each has its own chain of models and its own budget. */
export type GeneratePurpose = "summary" | "largeFile" | "expansion" | "memory";

/** What a model is asked once. */
export interface GenerateRequest {
  purpose: GeneratePurpose;
  system: string;
  user: string;
  temperature: number;
  /** The most tokens of an answer that could still be used. */
  maxTokens: number;
  /** For a summary: how brief it has to be. */
  level?: "normal" | "aggressive";
  signal?: AbortSignal;
}

export interface TokenUsage {
  inputTokens: number;
  outputTokens: number;
}

export interface Generated {
  text: string;
  /** `anthropic/claude-haiku-4-5` */
  model?: string;
  /** Absent when the provider did not report it. */
  usage?: TokenUsage;
  /** What was cut, skipped or tried in vain on the way to this answer. */
  notes?: string[];
}

/** Asks a model. Retries, fallback models and timeouts are its own affair. A program may bring its own. */
export type Generate = (request: GenerateRequest) => Promise<string | Generated>;

/** One model that is asked exactly once per call; what failed is thrown as it came. */
export interface NamedModel {
  /** `anthropic/claude-haiku-4-5` */
  name: string;
  call(request: GenerateRequest): Promise<Generated>;
}

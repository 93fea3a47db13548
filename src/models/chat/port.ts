import type { JsonObject, Message } from "../../domain/index.ts";
import type { TokenUsage } from "../generate.ts";

/** A tool as a model is told of it. Whoever asks runs it. */
export interface ChatTool {
  name: string;
  description: string;
  /** A JSON schema. */
  input: JsonObject;
}

/** One step of a conversation: what was said so far, and what may be used. */
export interface ChatRequest {
  system: string;
  messages: readonly Message[];
  tools: readonly ChatTool[];
  maxOutputTokens?: number;
  temperature?: number;
  signal?: AbortSignal;
  onText?(text: string): void;
  onReasoning?(text: string): void;
}

export interface ChatAnswer {
  /** What the model said: text, thoughts and calls of tools, in its own order. */
  message: Message;
  /** `stop`, `tool-calls`, `length`, … */
  finishReason: string;
  usage?: TokenUsage;
  /** What was degraded on the way. */
  notes: string[];
}

/** A model that talks. It is asked once a step; what failed is thrown as it came. */
export interface ChatModel {
  /** `anthropic/claude-sonnet-4-5` */
  name: string;
  /** How its provider wants a conversation to look. */
  provider: "anthropic" | "openai" | "google" | "openai-compatible";
  ask(request: ChatRequest): Promise<ChatAnswer>;
}

import type { JsonObject, Message } from "../../domain/index.ts";
import type { TokenUsage } from "../generate.ts";

/** A tool definition for a model; the caller executes the tool. */
export interface ChatTool {
  name: string;
  description: string;
  /** A JSON schema. */
  input: JsonObject;
}

/** One step of a conversation: the messages so far and the available tools. */
export interface ChatRequest {
  system: string;
  messages: readonly Message[];
  tools: readonly ChatTool[];
  maxOutputTokens?: number;
  temperature?: number;
  /** How much the model thinks before it answers; the provider's default when absent. */
  thinking?: "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max";
  /** The parts of messages after which the prompt stays the same in later prompts. */
  cachePoints?: readonly { message: number; part: number }[];
  /** Names the conversation, for providers that keep its prompts together. */
  cacheKey?: string;
  signal?: AbortSignal;
  onText?(text: string): void;
  onReasoning?(text: string): void;
}

export interface ChatAnswer {
  /** The reply: text, reasoning and tool calls, in order. */
  message: Message;
  /** `stop`, `tool-calls`, `length`, … */
  finishReason: string;
  usage?: TokenUsage;
  /** Notes about degraded behaviour. */
  notes: string[];
}

/** A chat model. It is called once per step; failures are thrown unchanged. */
export interface ChatModel {
  /** `anthropic/claude-sonnet-4-5` */
  name: string;
  /** The message rules of its provider. */
  provider: "anthropic" | "openai" | "google" | "openai-compatible";
  ask(request: ChatRequest): Promise<ChatAnswer>;
}

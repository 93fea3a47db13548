import type { Message } from "../../domain/index.ts";
import type { ChatAnswer, ChatTool } from "../../models/index.ts";
import type { Session } from "../../session/index.ts";
import type { HygieneProvider } from "../../transcript/index.ts";
import type { CachePoint } from "../cache-points.ts";
import type { ThinkingLevel } from "../levels.ts";

export interface RunRequest {
  session: Session;
  system: string;
  messages: readonly Message[];
  /** The text of the messages to answer. */
  prompt: string;
  /** The ids of the messages to answer; they must not be quoted as answers. */
  asked: ReadonlySet<string>;
  tools: readonly ChatTool[];
  /** Where a provider's cache can end, see `planCache`. */
  cachePoints?: readonly CachePoint[];
  /** How much the model thinks; the provider's default when absent. */
  thinking?: ThinkingLevel;
  signal: AbortSignal;
  onText(text: string): void;
  onReasoning(text: string): void;
}

/** Produces replies. It is asked once for each step; failures are thrown unchanged. */
export interface Runner {
  name: "ai-sdk" | "claude-cli" | "command" | "offline";
  model?: string;
  /** The provider whose rules the messages must follow; unchanged when absent. */
  provider?: HygieneProvider;
  /** Whether it takes messages with tools, or one text. */
  takes: "messages" | "prompt";
  run(request: RunRequest): Promise<ChatAnswer>;
}

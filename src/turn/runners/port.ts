import type { Message } from "../../domain/index.ts";
import type { ChatAnswer, ChatTool } from "../../models/index.ts";
import type { Session } from "../../session/index.ts";
import type { HygieneProvider } from "../../transcript/index.ts";

export interface RunRequest {
  session: Session;
  system: string;
  messages: readonly Message[];
  /** What was asked last, as text. */
  prompt: string;
  /** The ids of the messages that are asked with it: they are no answer to themselves. */
  asked: ReadonlySet<string>;
  tools: readonly ChatTool[];
  signal: AbortSignal;
  onText(text: string): void;
  onReasoning(text: string): void;
}

/** What answers. It is asked once a step; what failed is thrown as it came. */
export interface Runner {
  name: "ai-sdk" | "claude-cli" | "command" | "offline";
  model?: string;
  /** How the conversation has to look; as it is when absent. */
  provider?: HygieneProvider;
  /** Whether it is given the conversation message by message, with tools, or as one text. */
  takes: "messages" | "prompt";
  run(request: RunRequest): Promise<ChatAnswer>;
}

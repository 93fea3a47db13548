import type { JsonObject } from "../../domain/index.ts";

/** The parts of pi's extension interface that are used here. */
export interface PiApi {
  on(event: string, handler: (event: never, context: PiContext) => unknown): void;
  registerTool(tool: PiTool): void;
  registerCommand(name: string, command: PiCommand): void;
}

export interface PiContext {
  hasUI: boolean;
  cwd: string;
  getSystemPrompt?(): string;
  ui: { notify(text: string, kind: "info" | "warning" | "error"): void };
  model?: { provider: string; id: string; contextWindow?: number; maxTokens?: number };
  sessionManager: {
    getSessionId(): string;
    getSessionFile(): string | undefined;
  };
}

/** A message of pi's conversation. */
export interface PiMessage {
  role: string;
  content?: unknown;
  timestamp?: number;
}

/** An entry of pi's session file. */
export interface PiEntry {
  id: string;
  type: string;
  message?: PiMessage;
}

export interface PiTool {
  name: string;
  label: string;
  description: string;
  parameters: JsonObject;
  execute(
    id: string,
    input: unknown,
    signal?: AbortSignal,
  ): Promise<{ content: { type: "text"; text: string }[]; details: unknown }>;
}

export interface PiCommand {
  description: string;
  handler(words: string, context: PiContext): Promise<void>;
}

export interface BeforeAgentStart {
  prompt: string;
}

export interface BeforeCompact {
  preparation: {
    firstKeptEntryId: string;
    tokensBefore: number;
    settings?: { keepRecentTokens?: number };
  };
  branchEntries: PiEntry[];
  customInstructions?: string;
  signal?: AbortSignal;
}

export interface PiCompaction {
  summary: string;
  firstKeptEntryId: string;
  tokensBefore: number;
  details?: unknown;
}

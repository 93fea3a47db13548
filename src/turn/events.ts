import type { TokenUsage } from "../models/index.ts";

/** How a turn ended. */
export interface TurnResult {
  turn: string;
  /** The messages it answers. */
  messages: string[];
  key: string;
  sessionId: string;
  status: TurnStatus;
  /** The reply to show; empty when there is none. */
  reply: string;
  runner?: string;
  model?: string;
  usage?: TokenUsage;
  /** The tokens of the prompt and of the model's window, and the share of the prompt that a cache can hold, 0 to 1. */
  context?: { tokens: number; window: number; cacheable?: number };
  /** The reasoning of the reply, for sessions with the reasoning level `on`. */
  reasoning?: string;
  /** Notes about truncated, skipped or retried work, and notices for the person. */
  notes: string[];
  error?: { code: string; message: string; remedy?: string };
}

/**
 * `replied`; `silent`: the model chose not to reply; `command`: a command ran; `stored`: a group message that did not
 * address the agent; `held`: the send policy forbids a reply; `interrupted`: another message ended it; `failed`.
 */
export type TurnStatus = "replied" | "silent" | "command" | "stored" | "held" | "interrupted" | "failed";

/** The events of a turn. After `restarted`, the text so far is void. */
export type TurnEvent =
  | { type: "accepted"; id: string; key: string; duplicate: boolean }
  | { type: "started"; turn: string; attempt: number; runner: string; model?: string }
  | { type: "text"; text: string }
  | { type: "reasoning"; text: string }
  | { type: "tool-call"; callId: string; name: string; input: unknown }
  | { type: "tool-result"; callId: string; name: string; isError: boolean; text: string }
  | { type: "restarted"; because: string }
  | { type: "ended"; result: TurnResult };

import type { TokenUsage } from "../models/index.ts";

/** How a turn ended. */
export interface TurnResult {
  turn: string;
  /** The messages it answers. */
  messages: string[];
  key: string;
  sessionId: string;
  status: TurnStatus;
  /** What is to be shown; empty when there is nothing. */
  reply: string;
  runner?: string;
  model?: string;
  usage?: TokenUsage;
  /** How many tokens the model was shown, of how many it takes. */
  context?: { tokens: number; window: number };
  /** What was cut, skipped or tried in vain. */
  notes: string[];
  error?: { code: string; message: string; remedy?: string };
}

/**
 * `replied`; `silent`: the model chose to say nothing; `command`: a command was carried out; `stored`: heard in a group
 * and kept; `held`: the send policy forbids a reply; `interrupted`: another message ended it; `failed`.
 */
export type TurnStatus = "replied" | "silent" | "command" | "stored" | "held" | "interrupted" | "failed";

/** What happens in a turn, as it happens. A turn that begins again takes back what it said: see `restarted`. */
export type TurnEvent =
  | { type: "accepted"; id: string; key: string; duplicate: boolean }
  | { type: "started"; turn: string; attempt: number; runner: string; model?: string }
  | { type: "text"; text: string }
  | { type: "reasoning"; text: string }
  | { type: "tool-call"; callId: string; name: string; input: unknown }
  | { type: "tool-result"; callId: string; name: string; isError: boolean; text: string }
  | { type: "restarted"; because: string }
  | { type: "ended"; result: TurnResult };

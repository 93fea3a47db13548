import type { Config } from "../config/index.ts";
import type { ConversationSnapshot, TurnFacts as PromptFacts, TurnContext } from "../context/index.ts";
import { type Message, VarveError } from "../domain/index.ts";
import type { MemoryService } from "../memory/index.ts";
import type { ChatAnswer, UsageRecorder } from "../models/index.ts";
import type { SearchService } from "../search/index.ts";
import type { Session, SessionService } from "../session/index.ts";
import type { Store } from "../store/index.ts";
import type { TranscriptWriter } from "../transcript/index.ts";
import type { TurnEvent } from "./events.ts";
import type { TurnClaim } from "./inbox.ts";
import type { Runner } from "./runners/port.ts";

/** The services that a turn orchestrates. */
export interface TurnServices {
  readonly config: Config;
  readonly home: string;
  readonly store: Store;
  readonly sessions: SessionService;
  readonly transcripts: TranscriptWriter;
  readonly context: TurnContext;
  readonly search: SearchService;
  readonly memory: MemoryService;
  /** Counts calls, tokens and failures of models. */
  readonly usage: UsageRecorder;
  /** The program that serves the tools over MCP, for agents that run as a program of their own. */
  readonly mcpProgram: string;
}

/** What is known of a turn's prompt and its window. */
export interface TurnFacts extends PromptFacts {
  windowTokens: number;
  /** A snapshot of the conversation from the assembly, unless more was said since. */
  snapshot?: ConversationSnapshot;
}

/** A turn under way. */
export interface Turn {
  claimed: TurnClaim;
  session: Session;
  /** What was said, by the ids of the log. */
  messages: Message[];
  /** What was asked, as one text. */
  prompt: string;
}

/** What the process that runs a turn lends it. */
export interface TurnRuntime {
  signal: AbortSignal;
  emit(event: TurnEvent): void;
  /** Messages that came meanwhile and join the turn; none unless `turn.whileBusy` is steer. */
  steer(): Promise<TurnClaim["messages"]>;
}

/** What a model made of a turn. */
export interface Answered extends Pick<ChatAnswer, "message" | "usage"> {
  runner: Runner;
  model?: string;
  facts: TurnFacts;
  notes: string[];
}

/** Whether the store failed, and not what was asked of it. */
export function isStoreFailure(error: unknown): error is VarveError {
  return error instanceof VarveError && error.code.startsWith("STORE_");
}

/** Ends a turn whose process lost it: another one has it now. */
export class TurnLost extends Error {}

/** Why a turn was aborted, with what it had said by then. */
export class Interrupted extends Error {
  said = "";
}

import type { Config } from "../config/index.ts";
import type { ConversationSnapshot, TurnFacts as PromptFacts, TurnContext } from "../context/index.ts";
import { type EntryDraft, getParts, type Message, VarveError } from "../domain/index.ts";
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

/** Facts about a turn's prompt and its window. */
export interface TurnFacts extends PromptFacts {
  windowTokens: number;
  /** The coarsest cut and the messages after it: what compactions are decided by. */
  contextTokens?: number;
  /** The share of the prompt that a provider's cache can hold. */
  cacheableShare?: number;
  /** A snapshot of the conversation from the assembly, unless more was said since. */
  snapshot?: ConversationSnapshot;
}

/** A running turn. */
export interface Turn {
  claim: TurnClaim;
  session: Session;
  /** The messages to answer, with their ids in the log. */
  messages: Message[];
  /** The text of the messages. */
  prompt: string;
  /**
   * The input as it was written to the transcript without waiting for the disk, on a database whose server may lose it
   * and come back, or be replaced by a standby, while this process goes on. It is written again before the model is asked
   * when the prompt lacks it, and together with the end of the turn when it is not in the log then.
   */
  recorded?: EntryDraft[];
}

/** The means that the queue provides to a running turn. */
export interface TurnRuntime {
  signal: AbortSignal;
  emit(event: TurnEvent): void;
  /** Messages that arrived meanwhile and join the turn; none unless `turn.whileBusy` is `steer`. */
  steer(): Promise<TurnClaim["messages"]>;
}

/** The answer of a model. */
export interface Answered extends Pick<ChatAnswer, "message" | "usage"> {
  runner: Runner;
  model?: string;
  facts: TurnFacts;
  notes: string[];
}

/** Whether the store itself failed. */
export function isStoreFailure(error: unknown): error is VarveError {
  return error instanceof VarveError && error.code.startsWith("STORE_");
}

/** Ends a turn that another process has taken over. */
export class TurnLost extends Error {}

/** The reason of an interruption, with the text so far. */
export class Interrupted extends Error {
  text = "";
}

/** The text of a message. */
export function getText(message: Pick<Message, "content">): string {
  return getParts(message)
    .flatMap((part) => (part.type === "text" ? [part.text] : []))
    .join("")
    .trim();
}

/** The reasoning of a message, as far as the provider shows it. */
export function getReasoning(message: Pick<Message, "content">): string {
  return getParts(message)
    .flatMap((part) => (part.type === "reasoning" ? [part.text] : []))
    .join("\n")
    .trim();
}

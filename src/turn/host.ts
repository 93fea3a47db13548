import type { Config } from "../config/index.ts";
import type { CompactResult, ContextView, ConversationSnapshot, Fitted } from "../context/index.ts";
import type { Clock, EntryDraft, JsonObject, Message, Random } from "../domain/index.ts";
import type { Address, Received, SendDecision, Session } from "../session/index.ts";
import type { AttachedStatement, Store } from "../store/index.ts";
import type { HygieneProvider } from "../transcript/index.ts";

/** What is known of a turn's model when its context is made and kept. */
export interface WindowFacts {
  model?: string;
  windowTokens: number;
  /** What the provider counted for the prompt. */
  observedTokens?: number;
  /** What had been estimated for it. */
  estimatedTokens?: number;
  /** How the conversation stood when the view was made, unless more was said since. */
  stood?: ConversationSnapshot;
}

/** A tool with the engine behind it. */
export interface TurnTool {
  name: string;
  description: string;
  /** A JSON schema. */
  input: JsonObject;
  run(input: unknown, options?: { signal?: AbortSignal }): Promise<{ markdown: string }>;
}

/** What memory and history hold about a question. */
export interface Found {
  text: string;
  citation: string;
  time?: number;
  sessionKey?: string;
}

/** What a turn needs of the engine, and no more. */
export interface TurnHost {
  readonly config: Config;
  readonly home: string;
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly sessions: {
    keyOf(address: Address): { agent: string; key: string };
    receive(address: Address, text: string, options?: { displayName?: string }): Promise<Received>;
    get(key: string, agent: string): Promise<Session>;
    maySend(session: Session): SendDecision;
    takeNotices(session: Session): Promise<{ time: number; text: string }[]>;
    /** What counts the tokens of a turn, to be written with its end. */
    tokensUpdate(session: Session, used: { input: number; output: number; context?: number }): AttachedStatement;
    noteFlush(session: Session): Promise<void>;
  };
  readonly context: {
    append(
      session: Session,
      entries: EntryDraft[],
      options?: { sync?: boolean },
    ): Promise<{ entries: { seq: number }[] }>;
    prepare(session: Session, facts: WindowFacts & { signal?: AbortSignal }): Promise<CompactResult | undefined>;
    assemble(
      session: Session,
      request: {
        budgetTokens?: number;
        windowTokens: number;
        model?: string;
        prompt?: string;
        provider?: HygieneProvider;
      },
    ): Promise<ContextView & { stood?: ConversationSnapshot }>;
    fitMidTurn(session: Session, messages: Message[], facts: WindowFacts): Fitted;
    compact(
      session: Session,
      request: { budgetTokens?: number; instructions?: string; signal?: AbortSignal },
    ): Promise<CompactResult>;
    recoverFromOverflow(
      session: Session,
      error: unknown,
      facts: WindowFacts & { signal?: AbortSignal },
    ): Promise<CompactResult | undefined>;
    /** The end of a turn: its last messages, the work it causes, and what else the caller writes, or none of it. */
    commit(
      session: Session,
      key: string,
      messages: Message[],
      facts: WindowFacts,
      also: AttachedStatement[],
    ): Promise<void>;
    overview(session: Session): Promise<{ summaries: readonly unknown[]; summaryTokens: number; rawTokens: number }>;
  };
  readonly memory: {
    recall(agent: string, query: string, limit: number): Promise<Found[]>;
    remember(session: Session, text: string): Promise<{ id: string; text: string }>;
    forget(agent: string, query: string): Promise<string[]>;
  };
  /** What was said about a question, in any conversation of the agent. */
  find(agent: string, query: string, limit: number): Promise<(Found & { seq?: number })[]>;
  tools(session: Session): Promise<TurnTool[]>;
  /** How Claude Code starts the memory's MCP server for a session. */
  mcpCommand(session: Session): { command: string; args: string[]; env: Record<string, string> };
  /** Counts what a model read and wrote, or that it failed. */
  noteModel(
    purpose: string,
    model: string,
    outcome: { usage?: { inputTokens: number; outputTokens: number } } | { error: string; isAuth: boolean },
  ): void;
}

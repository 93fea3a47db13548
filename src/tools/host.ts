import type { Description, Expansion, Grant, GrepMode, GrepResult, GrepScope, GrepSort } from "../context/index.ts";
import type {
  Applied,
  Category,
  FoundMemories,
  Memory,
  MemoryPage,
  MemoryPatch,
  MemoryStats,
  NewMemory,
} from "../memory/index.ts";
import type { CorpusText, ResultKind, SearchAnswer } from "../search/index.ts";
import type { Session, SessionPage } from "../session/index.ts";

/** Which conversations a tool asks about, and what bounds it. */
export interface ToolReach {
  agent?: string;
  session?: Session;
  conversationId?: string;
  allConversations?: boolean;
  grant?: Grant;
}

export interface GrepQuestion extends ToolReach {
  pattern: string;
  mode?: GrepMode;
  scope?: GrepScope;
  since?: number;
  before?: number;
  limit?: number;
  sort?: GrepSort;
  signal?: AbortSignal;
}

export interface DescribeQuestion extends ToolReach {
  tokenCap?: number;
  expandFile?: boolean;
  startLine?: number;
  endLine?: number;
}

export interface ExpandQuestion extends ToolReach {
  summaryIds?: string[];
  query?: string;
  maxDepth?: number;
  tokenCap?: number;
  includeMessages?: boolean;
}

export interface AskedQuestion extends ToolReach {
  prompt: string;
  summaryIds?: string[];
  query?: string;
  maxTokens?: number;
  tokenCap?: number;
  signal?: AbortSignal;
}

export interface Answered {
  answer: string;
  citations: string[];
  model?: string;
  tokensRead: number;
  notes: string[];
}

export interface SearchQuestion {
  agent?: string;
  kinds?: ResultKind[];
  /** The only scopes of memories that may be seen. */
  allowedScopes?: readonly string[];
  limit?: number;
  minScore?: number;
  since?: number;
  before?: number;
  signal?: AbortSignal;
}

/** What of a session is in view now. */
export interface Overview {
  summaries: readonly unknown[];
  summaryTokens: number;
  rawTokens: number;
}

/** Whose memories are meant, and which scopes of them are open. */
export interface MemoryAsker {
  as?: { agent?: string; scopes?: readonly string[] };
}

export interface MemoryQuestion extends MemoryAsker {
  scopes?: string[];
  category?: Category;
  limit?: number;
  offset?: number;
}

/** What the tools need of the engine, and no more. */
export interface ToolHost {
  readonly context: {
    grep(request: GrepQuestion): Promise<GrepResult>;
    describe(id: string, request?: DescribeQuestion): Promise<Description>;
    expand(request: ExpandQuestion): Promise<Expansion>;
    expandQuery(request: AskedQuestion): Promise<Answered>;
    grant(id: string, agent?: string): Promise<Grant>;
    overview(session: Session): Promise<Overview>;
  };
  readonly search: {
    find(query: string, request?: SearchQuestion): Promise<SearchAnswer>;
    read(path: string, request?: { agent?: string; from?: number; lines?: number }): Promise<CorpusText>;
  };
  readonly memory: {
    add(request: NewMemory & MemoryAsker & { session?: Session }): Promise<Applied & { current: Memory }>;
    recall(
      request: MemoryQuestion & { query: string; asOf?: number; includeHistory?: boolean; signal?: AbortSignal },
    ): Promise<FoundMemories>;
    list(request?: MemoryQuestion): Promise<MemoryPage>;
    update(id: string, patch: MemoryPatch, request?: MemoryAsker): Promise<Memory>;
    forget(
      what: { id: string } | { query: string; scopes?: string[] },
      request?: MemoryAsker & { purge?: boolean },
    ): Promise<{ memories: string[]; purged: boolean; backups: string[] }>;
    stats(request?: MemoryQuestion): Promise<MemoryStats>;
  };
  readonly sessions: {
    get(name: string, agent?: string): Promise<Session>;
    list(options?: { agent?: string; limit?: number; match?: string }): Promise<SessionPage>;
  };
}

/**
 * The parts of OpenClaw's plugin API (2026.9.6) that Varve uses. OpenClaw is not a dependency: it loads the plugin, and
 * its own package is found through it.
 */
import type { JsonObject } from "../../domain/index.ts";

/** A message in the format of OpenClaw, which it shares with pi. */
export type HostMessage = JsonObject;

/** A session in OpenClaw's own store. */
export interface SessionTarget {
  agentId?: string;
  sessionId?: string;
  sessionKey?: string;
  storePath?: string;
}

interface CompletionRequest {
  messages: { role: "user"; content: string }[];
  systemPrompt?: string;
  maxTokens?: number;
  temperature?: number;
  purpose?: string;
  signal?: AbortSignal;
}

/** A model call that OpenClaw makes with the model of the session. */
export type HostCompletion = (request: CompletionRequest) => Promise<{ text: string }>;

export interface RuntimeContext {
  tokenBudget?: number;
  currentTokenCount?: number;
  /** Why a compaction was asked for. */
  trigger?: string;
  provider?: string;
  modelId?: string;
  promptCache?: { lastCallUsage?: { contextUsage?: { state: string; promptTokens?: number } } };
  llm?: { complete: HostCompletion };
}

interface RuntimeSettings {
  model?: { resolved: string | null };
  limits?: { promptTokenBudget: number | null };
}

interface SessionParams {
  sessionId: string;
  sessionKey?: string;
  sessionTarget?: SessionTarget;
  runtimeSettings?: RuntimeSettings;
  runtimeContext?: RuntimeContext;
}

/** The place of an entry in OpenClaw's transcript. */
interface EntryAnchor {
  entryId: string;
  rawSeq: number;
  agentId: string;
  storePath: string;
}

export interface CommitParams extends SessionParams {
  advancementKey: string;
  admission: EntryAnchor;
  terminal: EntryAnchor;
  messages: HostMessage[];
  isHeartbeat?: boolean;
}

export interface AssembleParams extends SessionParams {
  messages: HostMessage[];
  tokenBudget?: number;
  availableTools?: Set<string>;
  citationsMode?: string;
  model?: string;
  prompt?: string;
}

export interface AssembleResult {
  messages: HostMessage[];
  estimatedTokens: number;
  systemPromptAddition?: string;
}

export interface CompactParams extends SessionParams {
  agentId?: string;
  tokenBudget?: number;
  force?: boolean;
  currentTokenCount?: number;
  compactionTarget?: "budget" | "threshold";
  customInstructions?: string;
  abortSignal?: AbortSignal;
}

export interface CompactResult {
  ok: boolean;
  compacted: boolean;
  reason?: string;
  result?: { summary?: string; tokensBefore: number; tokensAfter?: number };
}

export interface MaintainParams extends SessionParams {
  abortSignal?: AbortSignal;
}

export interface SpawnParams {
  parentSessionKey: string;
  childSessionKey: string;
  contextMode?: "isolated" | "fork";
  ttlMs?: number;
}

export interface ContextEngine {
  info: {
    id: string;
    name: string;
    version: string;
    ownsCompaction: boolean;
    turnMaintenanceMode: "foreground" | "background";
    transcriptSemantics: {
      currentTurnFence: "before-current-turn-entry-v1";
      turnAdvancementIdempotency: "atomic-idempotent-v1";
    };
  };
  bootstrap(params: SessionParams): Promise<{ bootstrapped: boolean; importedMessages?: number; reason?: string }>;
  maintain(params: MaintainParams): Promise<{
    changed: boolean;
    bytesFreed: number;
    rewrittenEntries: number;
    reason?: string;
  }>;
  ingest(params: SessionParams & { message: HostMessage }): Promise<{ ingested: boolean }>;
  commitTurn(params: CommitParams): Promise<{ status: "committed" | "duplicate" }>;
  assemble(params: AssembleParams): Promise<AssembleResult>;
  compact(params: CompactParams): Promise<CompactResult>;
  prepareSubagentSpawn(params: SpawnParams): Promise<{ rollback(): Promise<void> } | undefined>;
  onSubagentEnded(params: { childSessionKey: string; reason: string }): Promise<void>;
  dispose(): Promise<void>;
}

export interface HostTool {
  name: string;
  label: string;
  description: string;
  parameters: unknown;
  catalogMode: "direct-only";
  execute(
    callId: string,
    input: unknown,
    signal?: AbortSignal,
  ): Promise<{ content: { type: "text"; text: string }[]; details: unknown }>;
}

export interface ToolContext {
  agentId?: string;
  sessionKey?: string;
  sessionId?: string;
}

export interface MemorySearchHit {
  path: string;
  startLine: number;
  endLine: number;
  score: number;
  snippet: string;
  source: "memory" | "sessions";
  citation?: string;
}

export interface MemorySearchManager {
  search(
    query: string,
    options?: {
      maxResults?: number;
      minScore?: number;
      sessionKey?: string;
      sources?: string[];
      lexicalOnly?: boolean;
      signal?: AbortSignal;
    },
  ): Promise<MemorySearchHit[]>;
  readFile(params: { relPath: string; from?: number; lines?: number }): Promise<{
    status: "ok" | "not_found";
    text: string;
    path: string;
  }>;
  status(): Record<string, unknown>;
  probeEmbeddingAvailability(): Promise<{ ok: boolean; error?: string }>;
  probeVectorAvailability(): Promise<boolean>;
  close(): Promise<void>;
}

export interface PromptSectionParams {
  availableTools: Set<string>;
  citationsMode?: string;
  agentId?: string;
  agentSessionKey?: string;
}

export interface FlushPlan {
  softThresholdTokens: number;
  forceFlushTranscriptBytes: number;
  reserveTokensFloor: number;
  prompt: string;
  systemPrompt: string;
  relativePath: string;
}

export interface MemoryCapability {
  promptBuilder(params: PromptSectionParams): string[];
  flushPlanResolver(params: { nowMs?: number; contextWindowTokens?: number }): FlushPlan | null;
  runtime: {
    getMemorySearchManager(params: {
      agentId: string;
    }): Promise<{ manager: MemorySearchManager | null; error?: string }>;
    resolveMemoryBackendConfig(): { backend: "builtin" };
    authorizeSearchHits(params: {
      agentId: string;
      requesterSessionKey: string | undefined;
      hits: MemorySearchHit[];
    }): Promise<MemorySearchHit[]>;
  };
  deterministicRecallToolName: string;
}

export interface HookContext {
  agentId?: string;
  sessionKey?: string;
  sessionId?: string;
  agentDir?: string;
}

export interface HostLogger {
  info(message: string): void;
  warn(message: string): void;
  error(message: string): void;
}

export interface PluginApi {
  config: JsonObject;
  pluginConfig?: unknown;
  logger: HostLogger;
  runtime?: {
    agent?: { session?: { getSessionEntry?(request: { agentId?: string; sessionKey: string }): unknown } };
  };
  registerContextEngine(id: string, factory: (context: { agentDir?: string }) => Promise<ContextEngine>): void;
  registerMemoryCapability(capability: MemoryCapability): void;
  registerTool(factory: (context: ToolContext) => HostTool[] | null, options: { names: string[] }): void;
  registerService?(service: { id: string; start(): void | Promise<void>; stop(): void | Promise<void> }): void;
  on(
    hook: "before_prompt_build",
    handler: (event: { prompt: string }, context: HookContext) => Promise<{ prependContext?: string } | undefined>,
  ): void;
  on(hook: "agent_end", handler: (event: unknown, context: HookContext) => Promise<void>): void;
}

type RawDelta =
  | {
      kind: "page";
      cursor: string;
      hasMore: boolean;
      requiredBytes?: number;
      events: { seq: number; event: JsonObject }[];
    }
  | { kind: "reset"; cursor: string }
  | { kind: "missing" };

/** The functions of OpenClaw's own package that the plugin calls. */
export interface HostSdk {
  readSessionTranscriptRawDelta(
    request: SessionTarget & { cursor?: string; maxEvents?: number; maxBytes?: number },
  ): Promise<RawDelta>;
  buildMemorySystemPromptAddition(params: PromptSectionParams): string | undefined;
}

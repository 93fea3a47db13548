import type { JsonObject } from "../domain/index.ts";
import type { SessionTable } from "../store/index.ts";

/** The session that a key points to. */
export interface Session {
  agent: string;
  key: string;
  sessionId: string;
  conversation: number;
  /** The number of the session id's transcript in the store. */
  transcript: number;
  sessionStartedAt: number;
  lastInteractionAt: number;
  updatedAt: number;
  createdAt: number;
  chatType: string;
  channel?: string;
  subject?: string;
  room?: string;
  space?: string;
  displayName?: string;
  thinkingLevel?: string;
  verboseLevel?: string;
  reasoningLevel?: string;
  elevatedLevel?: string;
  sendPolicy?: "allow" | "deny";
  providerOverride?: string;
  modelOverride?: string;
  authProfileOverride?: string;
  inputTokens: number;
  outputTokens: number;
  totalTokens: number;
  contextTokens: number;
  messageCount: number;
  compactionCount: number;
  memoryFlushAt?: number;
  memoryFlushCompactionCount?: number;
  origin?: string;
  metadata: JsonObject;
  /** For a sub-agent: the key of the session that started it. */
  parentKey?: string;
  /**
   * Whom it belongs to: a person (`user:<person>`), a group (`group:<channel>:<id>`), or nobody but itself
   * (`session:<channel>:<id>`); absent for the owner's.
   */
  audience?: string;
  /** The way by which it came in: `owner`, `library`, `channel`, `http` or `proxy`. */
  door?: string;
  /** The folder that it was started in. */
  cwd?: string;
}

/** The fields a caller may set; counters and clocks are the engine's own. */
export type SessionPatch = Partial<
  Pick<
    Session,
    | "subject"
    | "room"
    | "space"
    | "displayName"
    | "thinkingLevel"
    | "verboseLevel"
    | "reasoningLevel"
    | "elevatedLevel"
    | "sendPolicy"
    | "providerOverride"
    | "modelOverride"
    | "authProfileOverride"
    | "origin"
    | "metadata"
  >
>;

/** Each settable field with its column. */
export const patchColumns = {
  subject: "subject",
  room: "room",
  space: "space",
  displayName: "display_name",
  thinkingLevel: "thinking_level",
  verboseLevel: "verbose_level",
  reasoningLevel: "reasoning_level",
  elevatedLevel: "elevated_level",
  sendPolicy: "send_policy",
  providerOverride: "provider_override",
  modelOverride: "model_override",
  authProfileOverride: "auth_profile_override",
  origin: "origin",
  metadata: "metadata",
} as const satisfies Record<keyof SessionPatch, keyof SessionTable>;

export type SessionRow = SessionTable & { transcript: number; cwd?: string | null };

const absent = <T>(value: T | null): T | undefined => value ?? undefined;

export function sessionFromRow(row: SessionRow): Session {
  return {
    agent: row.agent,
    key: row.key,
    sessionId: row.session_id,
    conversation: row.conversation,
    transcript: row.transcript,
    sessionStartedAt: row.session_started_at,
    lastInteractionAt: row.last_interaction_at,
    updatedAt: row.updated_at,
    createdAt: row.created_at,
    chatType: row.chat_type,
    channel: absent(row.channel),
    subject: absent(row.subject),
    room: absent(row.room),
    space: absent(row.space),
    displayName: absent(row.display_name),
    thinkingLevel: absent(row.thinking_level),
    verboseLevel: absent(row.verbose_level),
    reasoningLevel: absent(row.reasoning_level),
    elevatedLevel: absent(row.elevated_level),
    sendPolicy: absent(row.send_policy) as "allow" | "deny" | undefined,
    providerOverride: absent(row.provider_override),
    modelOverride: absent(row.model_override),
    authProfileOverride: absent(row.auth_profile_override),
    inputTokens: row.input_tokens,
    outputTokens: row.output_tokens,
    totalTokens: row.total_tokens,
    contextTokens: row.context_tokens,
    messageCount: row.message_count,
    compactionCount: row.compaction_count,
    memoryFlushAt: absent(row.memory_flush_at),
    memoryFlushCompactionCount: absent(row.memory_flush_compaction_count),
    origin: absent(row.origin),
    metadata: JSON.parse(row.metadata) as JsonObject,
    parentKey: absent(row.parent_key),
    audience: absent(row.audience),
    door: absent(row.door),
    cwd: row.cwd ?? undefined,
  };
}

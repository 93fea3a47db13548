/** An event of the engine, for listeners of `varve.onEvent`. */
export type EngineEvent =
  | SessionEvent
  | CompactionEvent
  | JobFailedEvent
  | HookFailedEvent
  | MemoriesEvent
  | TurnEndedEvent
  | TurnFailedEvent
  | UnknownPersonEvent;

/** A message opened a session, or another session id of one that had expired or was asked to begin again. */
export interface SessionEvent {
  type: "session.created" | "session.renewed";
  agent: string;
  key: string;
  sessionId: string;
  data?: { reason: string };
}

export interface CompactionEvent {
  type: "compaction";
  agent: string;
  key: string;
  sessionId: string;
  data: {
    trigger: string;
    status: string;
    tokensBefore: number;
    tokensAfter: number;
    leafPasses: number;
    condensedPasses: number;
    calls: number;
    milliseconds: number;
    because?: string;
  };
}

/** A background job failed; it is retried until its attempts are used up. */
export interface JobFailedEvent {
  type: "job.failed";
  agent: string;
  /** The subject of the job, most often a session's key. */
  key: string;
  data: { kind: string; error: string; attempts: number };
}

/** A handler of a hook threw or took too long; the work that it was called for went on. */
export interface HookFailedEvent {
  type: "hook.failed";
  agent: string;
  key: string;
  sessionId?: string;
  data: { hook: string; error: string };
}

/** Memories were extracted from a conversation. */
export interface MemoriesEvent {
  type: "memories";
  agent: string;
  key: string;
  data: {
    messages: number;
    /** How often each decision was made. */
    decisions: Record<string, number>;
    held: number;
    rejected: number;
    dropped: Record<string, number>;
    notes: string[];
  };
}

/** A turn failed outside a model, for example because the store was unreachable. */
export interface TurnFailedEvent {
  type: "turn.failed";
  agent: string;
  key: string;
  data: { error: string };
}

/** A turn ended. */
export interface TurnEndedEvent {
  type: "turn.ended";
  agent: string;
  key: string;
  sessionId: string;
  data: {
    turn: string;
    /** The ids of the messages that it answers. */
    messages: string[];
    status: string;
    reply: string;
    /** Tokens that the model read and wrote, as it counts; 0 when no model answered. */
    tokens: number;
  };
}

/** Somebody who is not known as the owner wrote for the first time, and got a conversation of their own. */
export interface UnknownPersonEvent {
  type: "person.unknown";
  agent: string;
  key: string;
  data: { audience: string; name?: string };
}

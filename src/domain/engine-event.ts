/** Something the engine did by itself or on request, told to whoever opened it. */
export type EngineEvent = CompactionEvent | JobFailedEvent | MemoriesEvent | TurnEndedEvent | TurnFailedEvent;

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

/** Work in the background failed; it is tried again until its attempts are used up. */
export interface JobFailedEvent {
  type: "job.failed";
  agent: string;
  /** What the job is for, most often a session's key. */
  key: string;
  data: { kind: string; error: string; attempts: number };
}

/** Memories were drawn from a conversation. */
export interface MemoriesEvent {
  type: "memories";
  agent: string;
  key: string;
  data: {
    messages: number;
    /** How often each decision was taken. */
    decisions: Record<string, number>;
    held: number;
    rejected: number;
    dropped: Record<string, number>;
    notes: string[];
  };
}

/** Something went wrong around a turn: the store could not be reached, or the turn ended outside of any model. */
export interface TurnFailedEvent {
  type: "turn.failed";
  agent: string;
  key: string;
  data: { error: string };
}

/** A turn ended, with what is to be shown. */
export interface TurnEndedEvent {
  type: "turn.ended";
  agent: string;
  key: string;
  sessionId: string;
  data: { turn: string; messages: string[]; status: string; reply: string };
}

import type { Message } from "../../domain/index.ts";
import type { HygieneProvider } from "../../transcript/index.ts";
import type { TraceItem } from "../items.ts";
import type { SessionBoundary } from "../session-boundary.ts";
import type { ViewSnapshot } from "./view-snapshot.ts";

export interface AssembleOptions {
  budgetTokens: number;
  /** The prompt of the next turn: matching earlier messages are recalled. */
  prompt?: string;
  provider?: HygieneProvider;
  /** The first entry of a session that `/new` opened: earlier messages are in view only as deep summaries. */
  begin?: SessionBoundary;
  /** Whether heartbeats without a reply are left out, once a compaction has passed them. */
  withoutHeartbeats?: boolean;
  /** Notes that earlier views placed after messages; they keep their places. */
  notes?: (from: number) => Promise<ReadonlyMap<number, Note>>;
  /** The zone in which times are written. */
  timeZone?: string;
  /** A snapshot that was read already. */
  snapshot?: ViewSnapshot;
  /** The note after the newest message. */
  fresh?: Note;
  /** The trace of the candidates of that note. */
  freshTrace?: TraceItem[];
}

/** A text after a message that is not part of the log, such as recalled memories. */
export interface Note {
  text: string;
  tokens: number;
}

export interface ContextView {
  messages: Message[];
  /** The messages and the addition, counted as they are sent. */
  estimatedTokens: number;
  /** The size of the coarsest cut and the messages after it: what a compaction is decided by. A view fills its budget. */
  contextTokens: number;
  /**
   * Names the cut through the summaries. While it is the same, the messages are a prefix of those of the next view; a
   * coarser cut, taken when the messages have outgrown their room, changes it as a compaction does.
   */
  cut: string;
  systemPromptAddition?: string;
  trace: TraceItem[];
}

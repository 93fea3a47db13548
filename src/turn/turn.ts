import { type Message, VarveError } from "../domain/index.ts";
import type { ChatAnswer } from "../models/index.ts";
import type { Session } from "../session/index.ts";
import type { TurnEvent } from "./events.ts";
import type { WindowFacts } from "./host.ts";
import type { TurnClaim } from "./inbox.ts";
import type { Runner } from "./runners/port.ts";

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
  facts: WindowFacts;
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

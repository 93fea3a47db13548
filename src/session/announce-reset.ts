import { type ResetKind, VarveError } from "../domain/index.ts";
import type { Session } from "./session.ts";

/** Why a session ends: a text such as `/new`, a call of `sessions.renew`, its age, or the next run of a scheduled job. */
export type ResetReason = "trigger" | "request" | "idle" | "daily" | "cron";

/** A session that is about to end. Its messages can still be read and stay where they are. */
export interface EndingSession {
  session: Session;
  kind: ResetKind;
  reason: ResetReason;
}

/** Is told about sessions before they end; it never fails. */
export interface BeforeResetHook {
  readonly isActive: boolean;
  run(ending: EndingSession): Promise<void>;
}

/** Called inside the transaction of a renewal, before it writes anything. */
export type MayEnd = (ending: EndingSession) => void;

/** Rolls back a renewal whose session is not announced yet. */
class Unannounced extends VarveError {
  readonly ending: EndingSession;

  constructor(ending: EndingSession) {
    super("ABORTED", "The session must be announced before it ends.");
    this.ending = ending;
  }
}

interface Announcement {
  done: Promise<void>;
  users: number;
}

/** Others may renew the session while its end is announced; after so many rounds it ends without another one. */
const announcementsMax = 8;

/**
 * Announces the end of a session outside of any transaction, then renews it. The renewal decides which session ends, so
 * that no session is announced that stays, and concurrent messages announce it once.
 */
export class ResetAnnouncer {
  readonly #hook: BeforeResetHook | undefined;
  readonly #running = new Map<string, Announcement>();

  constructor(hook: BeforeResetHook | undefined) {
    this.#hook = hook;
  }

  async renew<T>(attempt: (mayEnd: MayEnd) => Promise<T>): Promise<T> {
    const hook = this.#hook;
    if (!hook?.isActive) return attempt(() => undefined);
    const announced = new Set<string>();
    const mayEnd: MayEnd = (ending) => {
      if (announced.has(printName(ending)) || announced.size >= announcementsMax) return;
      throw new Unannounced(ending);
    };
    try {
      for (;;) {
        try {
          return await attempt(mayEnd);
        } catch (error) {
          if (!(error instanceof Unannounced)) throw error;
          announced.add(printName(error.ending));
          await this.#join(hook, error.ending);
        }
      }
    } finally {
      for (const name of announced) this.#leave(name);
    }
  }

  #join(hook: BeforeResetHook, ending: EndingSession): Promise<void> {
    const name = printName(ending);
    const running = this.#running.get(name) ?? { done: hook.run(ending), users: 0 };
    running.users += 1;
    this.#running.set(name, running);
    return running.done;
  }

  /** An announcement is known until everyone who waited for it has renewed the session, or found it renewed. */
  #leave(name: string): void {
    const running = this.#running.get(name);
    if (!running) return;
    running.users -= 1;
    if (running.users === 0) this.#running.delete(name);
  }
}

function printName({ session }: EndingSession): string {
  return `${session.agent} ${session.sessionId}`;
}

import type { CompactionDecision, CompactionPlan } from "./context/index.ts";
import { type EngineEvent, type HookCall, HookList, systemWait, VarveError, type Wait } from "./domain/index.ts";
import type { EndingSession } from "./session/index.ts";
import type { EndedTurn } from "./turn/index.ts";

/** The handlers that a program can add. A handler that throws or takes too long is reported as the event `hook.failed`. */
export interface HookHandlers {
  /**
   * Before `/new`, `/reset`, a renewal by age or by `sessions.renew`, and the next run of a scheduled job. The reset waits
   * for it, within the time limit, and takes place in any case.
   */
  before_reset(ending: EndingSession, call: HookCall): unknown;
  /** Before each summary of a compaction: it may cancel the compaction or supply the summary. The first answer counts. */
  session_before_compact(
    plan: CompactionPlan,
    call: HookCall,
  ): CompactionDecision | undefined | Promise<CompactionDecision | undefined>;
  /** After a turn that ran in this process. Nothing waits for it but `close`. */
  after_turn(ended: EndedTurn, call: HookCall): unknown;
}

export type HookName = keyof HookHandlers;

export interface HookService {
  /**
   * Adds a handler; the returned function removes it.
   *
   * @example
   * varve.hooks.on("before_reset", async ({ session, reason }) => {
   *   const { entries } = await varve.transcripts.read(session, { currentOnly: true, limit: 1000 });
   *   await archive(session.sessionId, reason, entries);
   * });
   */
  on<Name extends HookName>(name: Name, handler: HookHandlers[Name]): () => void;
}

export interface HookOptions {
  /** The time limit of every handler, in milliseconds. Default: 15,000 before a reset, 60,000 for the others. */
  timeoutMs?: number;
  /** The timer of the time limits, also of registered summarisers; for tests. */
  wait?: Wait;
}

const resetTimeoutMs = 15_000;
const usualTimeoutMs = 60_000;

export function createHooks({ timeoutMs, wait = systemWait }: HookOptions, emit: (event: EngineEvent) => void) {
  const usual = { timeoutMs: timeoutMs ?? usualTimeoutMs, wait };
  const resets = new HookList<EndingSession, unknown>({ timeoutMs: timeoutMs ?? resetTimeoutMs, wait });
  const compactions = new HookList<CompactionPlan, unknown>(usual);
  const turns = new HookList<EndedTurn, unknown>(usual);
  const report =
    (hook: HookName, { agent, key, sessionId }: { agent: string; key: string; sessionId?: string }) =>
    (error: string): void =>
      emit({ type: "hook.failed", agent, key, ...(sessionId ? { sessionId } : {}), data: { hook, error } });
  const pending = new Set<Promise<void>>();

  const service: HookService = {
    on(name: HookName, handler: HookHandlers[HookName]) {
      if (typeof handler !== "function") throw badHook(`The handler of the hook ${name} is not a function.`);
      if (name === "before_reset") return resets.add(handler as HookHandlers["before_reset"]);
      if (name === "session_before_compact") return compactions.add(handler as HookHandlers["session_before_compact"]);
      if (name === "after_turn") return turns.add(handler as HookHandlers["after_turn"]);
      throw badHook(`There is no hook ${JSON.stringify(name)}.`);
    },
  };
  return {
    service,
    beforeReset: {
      get isActive() {
        return resets.isActive;
      },
      run: (ending: EndingSession) => resets.callAll(ending, report("before_reset", ending.session)),
    },
    beforeCompact: {
      get isActive() {
        return compactions.isActive;
      },
      async decide(plan: CompactionPlan, signal?: AbortSignal): Promise<CompactionDecision | undefined> {
        const onFailed = report("session_before_compact", plan.session);
        const answer = await compactions.findAnswer(plan, onFailed, signal);
        const decision = toDecision(answer);
        if (answer !== undefined && decision === undefined) {
          onFailed("The answer is neither { cancel: true } nor { summary: TEXT }.");
        }
        return decision;
      },
    },
    afterTurn: {
      get isActive() {
        return turns.isActive;
      },
      run(readTurn: () => Promise<EndedTurn>, about: { agent: string; key: string }): void {
        const onFailed = report("after_turn", about);
        const call: Promise<void> = readTurn()
          .then((ended) => turns.callAll(ended, onFailed))
          .catch((error: unknown) => onFailed(error instanceof Error ? error.message : String(error)))
          .finally(() => pending.delete(call));
        pending.add(call);
      },
    },
    /** Waits for the handlers that nothing else waits for. */
    async settle(): Promise<void> {
      while (pending.size > 0) await Promise.all(pending);
    },
  };
}

function badHook(message: string): VarveError {
  return new VarveError("BAD_REQUEST", message, {
    remedy: "Use before_reset, session_before_compact or after_turn, with a function.",
  });
}

/** The answer of a handler, which may be written without types. */
function toDecision(answer: unknown): CompactionDecision | undefined {
  if (typeof answer !== "object" || answer === null) return undefined;
  const { cancel, reason, summary, writer } = answer as Record<string, unknown>;
  if (cancel === true) return { cancel, ...(typeof reason === "string" ? { reason } : {}) };
  if (typeof summary !== "string") return undefined;
  return { summary, ...(typeof writer === "string" ? { writer } : {}) };
}

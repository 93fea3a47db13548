import { openVarve } from "../../index.ts";
import { answerHook, parseHookInput } from "../../plugins/index.ts";

/** The options of `varve hook`. */
export interface HookFlags {
  home?: string;
  database?: string;
  agent?: string;
  /** The time limit in milliseconds; the default depends on the event. */
  deadline?: number;
}

/** A thread that waits for a lock inside SQLite cannot be stopped and delays the exit, so the wait is short. */
const busyTimeoutMs = 250;

/** Answers a hook without a gateway: opens the engine and searches by keywords only, which needs no model. */
export async function answerWithEngine(value: unknown, { home, database, agent }: HookFlags): Promise<unknown> {
  const input = parseHookInput(value);
  const varve = await openVarve({ home, database, background: false, config: { store: { busyTimeoutMs } } });
  try {
    const output = await answerHook(varve, input, { agent, byMeaning: false, now: Date.now() });
    const targets = { session_id: input.session_id };
    await varve.audit.record({ principal: "owner", action: `hook ${input.hook_event_name}`, targets, status: "ok" });
    return output;
  } finally {
    await varve.close();
  }
}

import { openVarve } from "../../engine.ts";
import { answerHook, parseHookInput } from "../../plugins/index.ts";
import type { HookFlags } from "./flags.ts";

/** A thread that waits inside SQLite cannot be ended, and holds up the end of the whole program. */
const busyTimeoutMs = 250;

/** Answers a hook without a gateway: the engine is opened for it, and prompts are looked for by their words alone. */
export async function answerHere(value: unknown, { home, database, agent }: HookFlags): Promise<unknown> {
  const input = parseHookInput(value);
  const varve = await openVarve({ home, database, background: false, config: { store: { busyTimeoutMs } } });
  try {
    return await answerHook(varve, input, { agent, byMeaning: false, now: Date.now() });
  } finally {
    await varve.close();
  }
}

import { openVarve } from "../../engine.ts";
import { answerHook, parseHookInput } from "../../plugins/index.ts";
import type { HookFlags } from "./flags.ts";

/** Answers a hook without a gateway: the engine is opened for it, and prompts are looked for by their words alone. */
export async function answerHere(value: unknown, { home, database, agent }: HookFlags): Promise<unknown> {
  const input = parseHookInput(value);
  const varve = await openVarve({ home, database, background: false });
  try {
    return await answerHook(varve, input, { agent, byMeaning: false, now: Date.now() });
  } finally {
    await varve.close();
  }
}

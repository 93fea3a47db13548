import type { Principal } from "../../authorization/index.ts";
import type { Varve } from "../../engine.ts";
import type { Block } from "./block.ts";
import { leftAt, noteCompaction, settleSummary } from "./compaction.ts";
import type { HookEvent, HookInput, HookOutput } from "./hook-input.ts";
import { ingest, sessionOf } from "./ingest.ts";
import { recallFor } from "./recall.ts";
import { startBlock } from "./session-start.ts";
import { pruneStates, readState, writeState } from "./state.ts";

export interface HookSetting {
  agent?: string;
  principal?: Principal;
  /** Whether prompts are searched for by their meaning too; without it by their words. */
  byMeaning: boolean;
  now: number;
}

/** What Claude Code is answered at an event; undefined when there is nothing to say. */
export async function answerHook(
  varve: Varve,
  input: HookInput,
  setting: HookSetting,
): Promise<HookOutput | undefined> {
  switch (input.hook_event_name) {
    case "SessionStart":
      return shown(varve, input, await atStart(varve, input, setting));
    case "UserPromptSubmit":
      return shown(varve, input, await atPrompt(varve, input, setting));
    case "PreCompact":
    case "Stop":
    case "SubagentStop":
      await ingest(varve, input, setting.agent);
      return undefined;
    case "PostCompact":
      await afterCompaction(varve, input, setting);
      return undefined;
    case "SessionEnd":
      await atEnd(varve, input, setting);
      return undefined;
  }
}

async function atStart(varve: Varve, input: HookInput, setting: HookSetting): Promise<Block | undefined> {
  const { agent, principal } = setting;
  const { home } = varve.settings;
  const { source = "startup", cwd, session_id } = input;
  pruneStates(home, setting.now);
  const isCompacted = source === "compact";
  if (isCompacted || source === "resume") await ingest(varve, input, agent);
  const session = await sessionOf(varve, session_id, agent);
  if (!session) return startBlock(varve, { source, cwd, agent, principal });
  if (isCompacted) await noteCompaction(varve, session, { forgetShown: true });
  else await settleSummary(varve, session);
  const compacted = (await leftAt(varve, session, readState(home, session_id))) !== undefined;
  return startBlock(varve, { source, session, compacted, cwd, agent, principal });
}

async function atPrompt(varve: Varve, input: HookInput, setting: HookSetting): Promise<Block | undefined> {
  const { prompt, session_id, agent_id } = input;
  // A sub-agent's task was written by its parent, which was shown what fits.
  if (prompt === undefined || agent_id !== undefined) return undefined;
  const { agent, principal, byMeaning } = setting;
  const state = readState(varve.settings.home, session_id);
  const session = await sessionOf(varve, session_id, agent);
  const left = session && (await leftAt(varve, session, state));
  const shownBefore = new Set(state.shown);
  return recallFor(varve, { prompt, session, leftAt: left, agent, principal, byMeaning, shown: shownBefore });
}

/** The transcript does not hold the summary yet; it is kept here until it does. */
async function afterCompaction(varve: Varve, input: HookInput, { agent }: HookSetting): Promise<void> {
  await ingest(varve, input, agent);
  const session = await sessionOf(varve, input.session_id, agent);
  if (session) await noteCompaction(varve, session, { summary: input.compact_summary });
}

async function atEnd(varve: Varve, input: HookInput, { agent }: HookSetting): Promise<void> {
  await ingest(varve, input, agent);
  const session = await sessionOf(varve, input.session_id, agent);
  if (session) await settleSummary(varve, session);
}

/** What is put into the context is written down, so that it is not put there twice. */
function shown(varve: Varve, input: HookInput, block: Block | undefined): HookOutput | undefined {
  if (!block) return undefined;
  const { home } = varve.settings;
  const state = readState(home, input.session_id);
  writeState(home, input.session_id, { ...state, shown: [...state.shown, ...block.citations] });
  const hookEventName: HookEvent = input.hook_event_name;
  return { hookSpecificOutput: { hookEventName, additionalContext: block.text } };
}

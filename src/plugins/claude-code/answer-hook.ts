import type { Varve } from "../../engine.ts";
import type { HookInput, HookOutput } from "./hook-input.ts";
import { ingest, sessionOf } from "./ingest.ts";
import { recallFor } from "./recall.ts";
import { startBlock } from "./session-start.ts";
import { pruneShown, shownIn } from "./shown.ts";

export interface HookSetting {
  agent?: string;
  scopes?: readonly string[];
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
  const { agent } = setting;
  switch (input.hook_event_name) {
    case "SessionStart":
      return atStart(varve, input, setting);
    case "UserPromptSubmit":
      return atPrompt(varve, input, setting);
    case "PreCompact":
    case "Stop":
    case "SubagentStop":
    case "SessionEnd":
      await ingest(varve, input, agent);
      return undefined;
    case "PostCompact":
      // The transcript holds the summary, which is read as an entry of its own.
      await ingest(varve, input, agent);
      shownIn(varve.settings.home, input.session_id).clear();
      return undefined;
  }
}

async function atStart(varve: Varve, input: HookInput, setting: HookSetting): Promise<HookOutput | undefined> {
  const { agent, scopes } = setting;
  const { home } = varve.settings;
  const { source = "startup", cwd, session_id } = input;
  pruneShown(home, setting.now);
  const shown = shownIn(home, session_id);
  if (source === "compact") {
    shown.clear();
    await ingest(varve, input, agent);
  }
  const session = await sessionOf(varve, session_id, agent);
  const block = await startBlock(varve, { source, session, cwd, agent, scopes });
  if (!block) return undefined;
  shownIn(home, session_id).add(block.citations);
  return { hookSpecificOutput: { hookEventName: "SessionStart", additionalContext: block.text } };
}

async function atPrompt(varve: Varve, input: HookInput, setting: HookSetting): Promise<HookOutput | undefined> {
  const { prompt, session_id, agent_id } = input;
  // A sub-agent's task was written by its parent, which was shown what fits.
  if (prompt === undefined || agent_id !== undefined) return undefined;
  const { agent, scopes, byMeaning } = setting;
  const shown = shownIn(varve.settings.home, session_id);
  const session = await sessionOf(varve, session_id, agent);
  const block = await recallFor(varve, { prompt, session, agent, scopes, byMeaning, shown: shown.citations });
  if (!block) return undefined;
  shown.add(block.citations);
  return { hookSpecificOutput: { hookEventName: "UserPromptSubmit", additionalContext: block.text } };
}

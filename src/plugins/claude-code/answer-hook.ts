import type { Principal } from "../../authorization/index.ts";
import type { Varve } from "../../index.ts";
import { findSession } from "../find-session.ts";
import type { Block } from "./block.ts";
import { findCompactedSeq, recordCompaction, storeSummary } from "./compaction.ts";
import type { HookEvent, HookInput, HookOutput } from "./hook-input.ts";
import { importTranscripts } from "./ingest.ts";
import { recallForPrompt } from "./recall.ts";
import { createStartBlock } from "./session-start.ts";
import { pruneStates, readState, writeState } from "./state.ts";

export interface HookOptions {
  agent?: string;
  principal?: Principal;
  /** Whether to search by embeddings as well as by keywords. */
  byMeaning: boolean;
  now: number;
}

/** Handles a hook event; returns the output for Claude Code, or undefined for none. */
export async function answerHook(
  varve: Varve,
  input: HookInput,
  options: HookOptions,
): Promise<HookOutput | undefined> {
  switch (input.hook_event_name) {
    case "SessionStart":
      return shown(varve, input, await handleSessionStart(varve, input, options));
    case "UserPromptSubmit":
      return shown(varve, input, await handlePrompt(varve, input, options));
    case "PreCompact":
    case "Stop":
    case "SubagentStop":
      await importTranscripts(varve, input, options.agent);
      return undefined;
    case "PostCompact":
      await handlePostCompact(varve, input, options);
      return undefined;
    case "SessionEnd":
      await handleSessionEnd(varve, input, options);
      return undefined;
  }
}

async function handleSessionStart(varve: Varve, input: HookInput, options: HookOptions): Promise<Block | undefined> {
  const { agent, principal } = options;
  const { home } = varve.settings;
  const { source = "startup", cwd, session_id } = input;
  pruneStates(home, options.now);
  const isCompacted = source === "compact";
  if (isCompacted || source === "resume") await importTranscripts(varve, input, agent);
  const session = await findSession(varve, session_id, agent);
  if (!session) return createStartBlock(varve, { source, cwd, agent, principal });
  if (isCompacted) await recordCompaction(varve, session, { forgetShown: true });
  else await storeSummary(varve, session);
  const compacted = (await findCompactedSeq(varve, session, readState(home, session_id))) !== undefined;
  return createStartBlock(varve, { source, session, compacted, cwd, agent, principal });
}

async function handlePrompt(varve: Varve, input: HookInput, options: HookOptions): Promise<Block | undefined> {
  const { prompt, session_id, agent_id } = input;
  // A sub-agent's task was written by its parent, which got the recalled messages.
  if (prompt === undefined || agent_id !== undefined) return undefined;
  const { agent, principal, byMeaning } = options;
  const state = readState(varve.settings.home, session_id);
  const session = await findSession(varve, session_id, agent);
  const left = session && (await findCompactedSeq(varve, session, state));
  const shownBefore = new Set(state.createOutput);
  return recallForPrompt(varve, {
    prompt,
    session,
    compactedSeq: left,
    agent,
    principal,
    byMeaning,
    shown: shownBefore,
  });
}

/** The transcript file does not contain the summary yet, so the hook's state keeps it. */
async function handlePostCompact(varve: Varve, input: HookInput, { agent }: HookOptions): Promise<void> {
  await importTranscripts(varve, input, agent);
  const session = await findSession(varve, input.session_id, agent);
  if (session) await recordCompaction(varve, session, { summary: input.compact_summary });
}

async function handleSessionEnd(varve: Varve, input: HookInput, { agent }: HookOptions): Promise<void> {
  await importTranscripts(varve, input, agent);
  const session = await findSession(varve, input.session_id, agent);
  if (session) await storeSummary(varve, session);
}

/** Creates the output and records its citations, so that they are not added to the context twice. */
function shown(varve: Varve, input: HookInput, block: Block | undefined): HookOutput | undefined {
  if (!block) return undefined;
  const { home } = varve.settings;
  const state = readState(home, input.session_id);
  writeState(home, input.session_id, { ...state, createOutput: [...state.createOutput, ...block.citations] });
  const hookEventName: HookEvent = input.hook_event_name;
  return { hookSpecificOutput: { hookEventName, additionalContext: block.text } };
}

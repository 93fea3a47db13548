import { join } from "node:path";
import type { Varve } from "../../index.ts";
import { packageFolder } from "../../version.ts";
import { recallForPrompt } from "../claude-code/recall.ts";
import { findSession } from "../find-session.ts";
import { createSessionStore, type VarveSessionStore } from "./session-store.ts";

export interface VarveAgentOptions {
  varve: Varve;
  /** The agent of the sessions and memories; the setting `agent` when absent. */
  agent?: string;
  /** Called when something about a prompt cannot be recalled; the prompt is sent without it. */
  onError?(error: unknown): void;
}

interface PromptInput {
  hook_event_name: string;
  prompt?: string;
  session_id?: string;
}

interface HookAnswer {
  hookSpecificOutput?: { hookEventName: "UserPromptSubmit"; additionalContext: string };
}

/** Options for `query()` of the Agent SDK. */
export interface AgentOptions {
  sessionStore: VarveSessionStore;
  /** Keeps the settings of the server off the command line, which other users of the machine can read. */
  mcpServersDelivery: "initialize";
  mcpServers: { varve: { type: "stdio"; command: string; args: string[]; env: Record<string, string> } };
  hooks: { UserPromptSubmit: { hooks: ((input: never) => Promise<HookAnswer>)[] }[] };
}

const shownMax = 1_000;

/**
 * The memory for programs that use Claude's Agent SDK: transcripts are kept in Varve, prompts get what is remembered
 * about them, and the agent has the tools for searching and remembering.
 *
 * @example
 * for await (const message of query({ prompt, options: { ...varveAgentOptions({ varve }), model } })) console.log(message);
 */
export function varveAgentOptions({ varve, agent, onError = () => undefined }: VarveAgentOptions): AgentOptions {
  /** What each session has been shown, so that nothing is shown twice. */
  const shown = new Map<string, Set<string>>();
  const recall = async (input: PromptInput): Promise<HookAnswer> => {
    const { prompt = "", session_id = "" } = input;
    const known = shown.get(session_id) ?? new Set<string>();
    try {
      const session = session_id === "" ? undefined : await findSession(varve, session_id, agent);
      const block = await recallForPrompt(varve, { prompt, agent, session, shown: known, byMeaning: true });
      if (!block) return {};
      for (const citation of block.citations) known.add(citation);
      shown.delete(session_id);
      shown.set(session_id, known);
      if (shown.size > shownMax) shown.delete(shown.keys().next().value ?? "");
      return { hookSpecificOutput: { hookEventName: "UserPromptSubmit", additionalContext: block.text } };
    } catch (error) {
      onError(error);
      return {};
    }
  };
  return {
    sessionStore: createSessionStore({ varve, ...(agent === undefined ? {} : { agent }) }),
    mcpServersDelivery: "initialize",
    mcpServers: { varve: createServerEntry(varve, agent) },
    hooks: { UserPromptSubmit: [{ hooks: [recall as (input: never) => Promise<HookAnswer>] }] },
  };
}

/** The MCP server is a process of its own on the same database. */
function createServerEntry({ settings }: Varve, agent: string | undefined): AgentOptions["mcpServers"]["varve"] {
  const { home, config } = settings;
  return {
    type: "stdio",
    command: process.execPath,
    args: [join(packageFolder, "bin", "varve.js"), "mcp", ...(agent === undefined ? [] : ["--agent", agent])],
    env: { VARVE_HOME: home, VARVE_DATABASE: config.database },
  };
}

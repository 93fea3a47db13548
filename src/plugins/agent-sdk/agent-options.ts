import { join } from "node:path";
import type { Varve } from "../../index.ts";
import { packageFolder } from "../../version.ts";
import { recallForPrompt } from "../claude-code/recall.ts";
import {
  checkSpeaker,
  pickSpeaker,
  resolveSpeaker,
  type SpeakerOptions,
  toSpeakerAddress,
  warnWithoutSpeaker,
} from "../speaker.ts";
import { findMainSession, openSessionStore, type VarveSessionStore } from "./session-store.ts";

/** A program for several people makes the options for each request, with the person who sent it. */
export interface VarveAgentOptions extends SpeakerOptions {
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

/** An MCP server that the Agent SDK starts. */
export interface McpServerEntry {
  type: "stdio";
  command: string;
  args: string[];
  env: Record<string, string>;
}

/** Options for `query()` of the Agent SDK. */
export interface AgentOptions {
  sessionStore: VarveSessionStore;
  /** Keeps the settings of the server off the command line, which other users of the machine can read. */
  mcpServersDelivery: "initialize";
  /** The server `varve`; empty when nobody is named, since its tools would have nobody's memory to search. */
  mcpServers: Record<string, McpServerEntry>;
  hooks: { UserPromptSubmit: { hooks: ((input: never) => Promise<HookAnswer>)[] }[] };
}

const shownMax = 1_000;

/**
 * The memory for programs that use Claude's Agent SDK: transcripts are kept in Varve, prompts get what is remembered
 * about them, and the agent has the tools for searching and remembering. All of it is that of the person who speaks. With
 * neither `peer` nor `owner`, a session belongs to nobody and sees only itself, and there are no tools.
 *
 * @example
 * const memory = varveAgentOptions({ varve, peer: user.id });
 * for await (const message of query({ prompt, options: { ...memory, model } })) console.log(message);
 */
export function varveAgentOptions(options: VarveAgentOptions): AgentOptions {
  const { varve, agent, onError = () => undefined } = options;
  const who = pickSpeaker(options);
  checkSpeaker(who);
  warnWithoutSpeaker("varveAgentOptions of varve/agent-sdk", who);
  /** Citations that each session has been shown, so that nothing is shown twice. */
  const shown = new Map<string, Set<string>>();
  const recall = async (input: PromptInput): Promise<HookAnswer> => {
    const { prompt = "", session_id = "" } = input;
    const known = shown.get(session_id) ?? new Set<string>();
    try {
      const speaker = await resolveSpeaker(varve, agent ?? varve.settings.config.agent, who);
      const session = await findMainSession({ varve, agent, speaker }, session_id);
      const principal =
        (await speaker.resolvePrincipal()) ?? (session && (await varve.sessions.resolvePrincipal(session)));
      if (!principal) return {};
      const block = await recallForPrompt(varve, { prompt, agent, principal, session, shown: known, byMeaning: true });
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
    sessionStore: openSessionStore({ varve, agent, who }),
    mcpServersDelivery: "initialize",
    mcpServers: createServers(varve, agent, who),
    hooks: { UserPromptSubmit: [{ hooks: [recall as (input: never) => Promise<HookAnswer>] }] },
  };
}

/** The MCP server is a process of its own on the same database, bound to the person. */
function createServers(
  { settings }: Varve,
  agent: string | undefined,
  who: SpeakerOptions,
): AgentOptions["mcpServers"] {
  const address = toSpeakerAddress(who);
  if (address === undefined) return {};
  const { home, config } = settings;
  // An id that begins with a dash is no option in this form.
  const person = address.owner ? [] : [`--channel=${address.channel}`, `--peer=${address.peer}`];
  const own = agent === undefined ? [] : ["--agent", agent];
  return {
    varve: {
      type: "stdio",
      command: process.execPath,
      args: [join(packageFolder, "bin", "varve.js"), "mcp", ...own, ...person],
      env: { VARVE_HOME: home, VARVE_DATABASE: config.database },
    },
  };
}

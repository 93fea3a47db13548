import { toVarveError } from "../../domain/index.ts";
import { allTools, describeCompactly, openToolbox } from "../../tools/index.ts";
import type { HostTool, ToolContext } from "./host-types.ts";
import type { PluginSettings } from "./plugin-settings.ts";
import { findStoredSession, isRecorded, readAgentOfKey, resolveKeyedPrincipal } from "./recorded-sessions.ts";
import { getSharedState, openSharedEngine, type Subagent } from "./shared-engine.ts";
import { type FindParent, findSubagent } from "./subagents.ts";

/** The tools that OpenClaw offers; its manifest must list them too. `lcm_expand` is for sub-agents. */
export const toolNames = [
  "memory_search",
  "memory_get",
  "memory_recall",
  "memory_store",
  "memory_forget",
  "lcm_grep",
  "lcm_describe",
  "lcm_expand_query",
  "lcm_expand",
];

const definitions = allTools.filter(({ name }) => toolNames.includes(name));

/** The tools of a session, as OpenClaw offers them. A sub-agent reads the history of its parent with its grant. */
export function createTools(settings: PluginSettings, context: ToolContext, findParent: FindParent): HostTool[] | null {
  if (!isRecorded(context.sessionKey)) return null;
  const isDelegated = mayHaveGrant(context.sessionKey);
  const known = context.sessionKey === undefined ? undefined : getSharedState().subagents.get(context.sessionKey);
  return definitions
    .filter(({ name }) => name !== (isDelegated ? "lcm_expand_query" : "lcm_expand"))
    .map(({ name, title, ...tool }) => ({ name, label: title, ...describeCompactly(tool) }))
    .map(({ name, label, description, input }) => ({
      name,
      label,
      description,
      parameters: input,
      catalogMode: "direct-only",
      async execute(_callId, given, signal) {
        const { markdown, structured } = await runTool(settings, context, {
          name,
          input: given,
          known,
          findParent,
          signal,
        });
        return { content: [{ type: "text", text: markdown }], details: structured };
      },
    }));
}

/** Whether a session is a sub-agent's with a grant. After a restart only the store knows; its key says it may have one. */
function mayHaveGrant(sessionKey: string | undefined): sessionKey is string {
  if (sessionKey === undefined) return false;
  const known = getSharedState().subagents.get(sessionKey);
  return known ? known.grant !== undefined : sessionKey.includes(":subagent:");
}

interface ToolCall {
  name: string;
  input: unknown;
  /** The sub-agent when the tools were created; its grant may have ended meanwhile. */
  known: Subagent | undefined;
  findParent: FindParent;
  signal: AbortSignal | undefined;
}

/** Runs a tool where it was called: in its session, with a grant, or for the person of a session before its first turn. */
async function runTool(
  settings: PluginSettings,
  context: ToolContext,
  { name, input, known, findParent, signal }: ToolCall,
) {
  const varve = await openSharedEngine(settings);
  const { sessionKey } = context;
  const subagent = known ?? (mayHaveGrant(sessionKey) ? await findSubagent(varve, sessionKey, findParent) : undefined);
  const grant = subagent?.grant;
  const agent = (context.agentId ?? readAgentOfKey(context.sessionKey) ?? varve.settings.config.agent).toLowerCase();
  const isDelegated = grant !== undefined && name.startsWith("lcm_");
  const session =
    isDelegated || context.sessionId === undefined
      ? undefined
      : await findStoredSession(varve, context.sessionId, agent);
  // A sub-agent works for the session that started it.
  const principal = await resolveKeyedPrincipal(varve, subagent?.parentKey ?? sessionKey, agent);
  const toolbox = openToolbox(varve, {
    agent,
    ...(isDelegated ? { grant } : session === undefined ? { principal } : { session }),
  });
  try {
    const tool = toolbox.find(name);
    if (tool === undefined) throw new Error(`There is no tool ${name}.`);
    return await tool.run(input, signal === undefined ? {} : { signal });
  } catch (error) {
    const { message, remedy } = toVarveError(error);
    throw new Error(remedy === undefined ? message : `${message} ${remedy}`, { cause: error });
  }
}

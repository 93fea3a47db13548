import { describeError, nameDatabase } from "./context-engine.ts";
import { followTranscript } from "./follow-transcript.ts";
import type { PluginApi } from "./host-types.ts";
import type { PluginSettings } from "./plugin-settings.ts";
import { recallText } from "./recall-text.ts";
import { findKeyedSession, isRecorded, readAgentOfKey, resolveKeyedPrincipal } from "./recorded-sessions.ts";
import { openSharedEngine } from "./shared-engine.ts";

/**
 * Recall and capture for an OpenClaw in which Varve has the memory slot only. With the context slot, views recall and
 * turns are stored by themselves.
 */
export function registerRecallHooks(api: PluginApi, settings: PluginSettings): void {
  const { logger } = api;
  api.on("before_prompt_build", async ({ prompt }, context) => {
    if (!isRecorded(context.sessionKey)) return undefined;
    try {
      const varve = await openSharedEngine(settings);
      const agent = (
        context.agentId ??
        readAgentOfKey(context.sessionKey) ??
        varve.settings.config.agent
      ).toLowerCase();
      const session = await findKeyedSession(varve, context.sessionKey, agent);
      const principal = await resolveKeyedPrincipal(varve, context.sessionKey, agent);
      const prependContext = await recallText(varve, { prompt, agent, session, principal, memoriesMax: 5 });
      return prependContext === undefined ? undefined : { prependContext };
    } catch (error) {
      logger.warn(`[varve] Nothing was recalled: ${describeError(error)}`);
      return undefined;
    }
  });
  api.on("agent_end", async (_event, { agentId, sessionId, sessionKey, agentDir }) => {
    const agent = agentId ?? readAgentOfKey(sessionKey);
    if (agent === undefined || sessionId === undefined || sessionKey === undefined || !isRecorded(sessionKey)) return;
    try {
      const varve = await openSharedEngine(settings);
      const target = { agentId: agent, sessionId, sessionKey };
      await followTranscript(varve, { target, databaseFile: nameDatabase(target, agentDir) });
      const session = await findKeyedSession(varve, sessionKey, agent);
      if (session) await varve.context.afterTurn(session);
    } catch (error) {
      logger.warn(`[varve] The turn is stored with the next one, because this failed: ${describeError(error)}`);
    }
  });
}

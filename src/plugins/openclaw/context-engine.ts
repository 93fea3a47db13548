import { dirname, join } from "node:path";
import { version } from "../../index.ts";
import { compactSession, compactWithHost, growView, readTurnFacts } from "./compaction.ts";
import { type FollowRequest, followTranscript } from "./follow-transcript.ts";
import { loadHostSdk } from "./host-sdk.ts";
import type { AssembleParams, AssembleResult, ContextEngine, HostLogger, SessionTarget } from "./host-types.ts";
import type { PluginSettings } from "./plugin-settings.ts";
import { findStoredSession, isRecorded, readAgentOfKey } from "./recorded-sessions.ts";
import { getSharedState, openSharedEngine, recordFailure } from "./shared-engine.ts";
import { endSubagent, type FindParent, prepareSubagent } from "./subagents.ts";
import { assembleView, fitHostMessages } from "./view.ts";

export const engineId = "varve";
const databaseName = "openclaw-agent.sqlite";

export interface EngineOptions {
  settings: PluginSettings;
  logger: HostLogger;
  /** The folder of the agent's state. */
  agentDir: string | undefined;
  findParent: FindParent;
}

type Place = FollowRequest["target"];

/**
 * The context engine of one turn. OpenClaw creates one for each turn; all of them share one opened memory. It fails when
 * the memory cannot be opened: then OpenClaw's own engine handles the turn, and the next turn fills the gap.
 */
export async function createContextEngine(options: EngineOptions): Promise<ContextEngine> {
  const { settings, logger } = options;
  const varve = await openSharedEngine(settings);
  /** Whether everything before this turn is stored. */
  let isFollowed = false;
  /** The view of this turn: what precedes a turn does not change while it runs. */
  let assembled: { result: AssembleResult; prompt: string | undefined } | undefined;

  const follow = async (place: Place, part: Pick<FollowRequest, "lastSeq" | "isAtomic"> = {}) => {
    const { agentId, sessionKey } = place;
    const parentKey = getSharedState().subagents.get(sessionKey)?.parentKey ?? options.findParent(agentId, sessionKey);
    const databaseFile = nameDatabase(place, options.agentDir);
    return followTranscript(varve, {
      target: place,
      databaseFile,
      ...part,
      ...(parentKey === undefined ? {} : { parentKey }),
    });
  };

  return {
    info: {
      id: engineId,
      name: "Varve",
      version,
      ownsCompaction: true,
      turnMaintenanceMode: "background",
      transcriptSemantics: {
        currentTurnFence: "before-current-turn-entry-v1",
        turnAdvancementIdempotency: "atomic-idempotent-v1",
      },
    },

    async bootstrap(params) {
      const place = resolvePlace(params);
      if (place === undefined) return { bootstrapped: false, reason: "this session is not recorded" };
      const { imported } = await follow(place);
      isFollowed = true;
      return { bootstrapped: true, importedMessages: imported };
    },

    async commitTurn(params) {
      if (!isRecorded(params.sessionKey)) return { status: "committed" };
      const place = resolvePlace(params);
      if (place === undefined) throw new Error("OpenClaw did not name the session of the turn.");
      // The turn is in OpenClaw's transcript: it is stored from there, with what was missed before it. When that fails,
      // OpenClaw keeps the turn and sends it again.
      const { imported } = await follow(place, { lastSeq: params.terminal.rawSeq, isAtomic: true }).catch((error) => {
        recordFailure(varve, describeError(error));
        throw error;
      });
      const session = await findStoredSession(varve, place.sessionId, place.agentId.toLowerCase());
      if (session && settings.summaries === "varve") {
        await varve.context.afterTurn(session, readTurnFacts(params.runtimeContext));
      }
      recordFailure(varve, undefined);
      if (session) growView(session.key);
      return { status: imported > 0 ? "committed" : "duplicate" };
    },

    async assemble(params) {
      const known = assembled;
      const budget = params.tokenBudget ?? Number.POSITIVE_INFINITY;
      if (known && known.prompt === params.prompt && known.result.estimatedTokens <= budget) return known.result;
      const result = await assembleOrFit(params);
      assembled = { result, prompt: params.prompt };
      return result;
    },

    async compact(params) {
      assembled = undefined;
      try {
        const place = resolvePlace(params);
        const session = place && (await findStoredSession(varve, place.sessionId, place.agentId.toLowerCase()));
        if (session === undefined) return { ok: true, compacted: false, reason: "the session has no stored history" };
        return await compactSession(varve, session, params);
      } catch (error) {
        params.abortSignal?.throwIfAborted();
        // A thrown error would put the engine in quarantine until OpenClaw is restarted.
        logger.error(`[varve] The compaction of ${params.sessionKey} failed: ${describeError(error)}`);
        return { ok: false, compacted: false, reason: describeError(error) };
      }
    },

    async maintain(params) {
      const unchanged = { changed: false, bytesFreed: 0, rewrittenEntries: 0 };
      const place = settings.summaries === "host" ? resolvePlace(params) : undefined;
      const session = place && (await findStoredSession(varve, place.sessionId, place.agentId.toLowerCase()));
      if (session === undefined) return unchanged;
      const { runtimeContext, abortSignal } = params;
      const compacted = await compactWithHost(varve, session, runtimeContext, abortSignal);
      await varve.context.afterTurn(session, readTurnFacts(runtimeContext));
      return { ...unchanged, ...(compacted ? { reason: "compacted in Varve" } : {}) };
    },

    // Turns are stored by `commitTurn` alone: single messages have no ids by which a second copy would be known.
    ingest: async () => ({ ingested: false }),

    async prepareSubagentSpawn(params) {
      if (!isRecorded(params.childSessionKey)) return undefined;
      try {
        await prepareSubagent(varve, params);
      } catch (error) {
        logger.warn(`[varve] ${params.childSessionKey} cannot read its parent's history: ${describeError(error)}`);
      }
      return { rollback: () => endSubagent(varve, params.childSessionKey, options.findParent) };
    },

    async onSubagentEnded({ childSessionKey }) {
      try {
        await endSubagent(varve, childSessionKey, options.findParent);
      } catch (error) {
        logger.warn(`[varve] The grant of ${childSessionKey} could not be ended: ${describeError(error)}`);
      }
    },

    // The memory stays open for the next turn.
    dispose: async () => undefined,
  };

  /** A failing memory costs the turn its history beyond the window, not the turn. */
  async function assembleOrFit(params: AssembleParams): Promise<AssembleResult> {
    try {
      const [view, memorySection] = await Promise.all([readView(params), buildMemorySection(params)]);
      const additions = [memorySection, view.systemPromptAddition].filter((text) => text !== undefined && text !== "");
      return { ...view, ...(additions.length === 0 ? {} : { systemPromptAddition: additions.join("\n\n") }) };
    } catch (error) {
      const reason = describeError(error);
      logger.error(`[varve] The view of ${params.sessionKey} failed, so OpenClaw's messages are used: ${reason}`);
      recordFailure(varve, reason);
      return fitHostMessages(params.messages, params.tokenBudget);
    }
  }

  async function readView(params: AssembleParams): Promise<AssembleResult> {
    const place = resolvePlace(params);
    if (place === undefined) return fitHostMessages(params.messages, params.tokenBudget);
    if (!isFollowed) {
      await follow(place);
      isFollowed = true;
    }
    const session = await findStoredSession(varve, place.sessionId, place.agentId.toLowerCase());
    if (session === undefined) return fitHostMessages(params.messages, params.tokenBudget);
    return assembleView(varve, session, params);
  }
}

async function buildMemorySection(params: AssembleParams): Promise<string | undefined> {
  const { availableTools = new Set<string>(), citationsMode, sessionKey } = params;
  const { buildMemorySystemPromptAddition } = await loadHostSdk();
  return buildMemorySystemPromptAddition({
    availableTools,
    ...(citationsMode === undefined ? {} : { citationsMode }),
    ...(sessionKey === undefined ? {} : { agentSessionKey: sessionKey }),
  });
}

/** Where a session is in OpenClaw's store; undefined for one that is not recorded. */
function resolvePlace(params: {
  sessionId: string;
  sessionKey?: string;
  sessionTarget?: SessionTarget;
  agentId?: string;
}): Place | undefined {
  const { sessionTarget: target } = params;
  const sessionKey = target?.sessionKey ?? params.sessionKey;
  const agentId = target?.agentId ?? params.agentId ?? readAgentOfKey(sessionKey);
  if (sessionKey === undefined || agentId === undefined || !isRecorded(sessionKey)) return undefined;
  const sessionId = target?.sessionId ?? params.sessionId;
  return {
    agentId,
    sessionId,
    sessionKey,
    ...(target?.storePath === undefined ? {} : { storePath: target.storePath }),
  };
}

/** The file of the agent's database. OpenClaw names its store in different ways, depending on who asks. */
export function nameDatabase({ agentId, storePath }: Place, agentDir: string | undefined): string {
  if (storePath?.endsWith(".sqlite")) return storePath;
  if (agentDir !== undefined) return join(agentDir, databaseName);
  if (storePath !== undefined) return join(dirname(dirname(storePath)), "agent", databaseName);
  return `openclaw:${agentId}`;
}

export function describeError(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

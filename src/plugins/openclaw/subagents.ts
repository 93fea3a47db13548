import type { Varve } from "../../index.ts";
import { normaliseOpenclawKey } from "../../index.ts";
import type { SpawnParams } from "./host-types.ts";
import { readAgentOfKey } from "./recorded-sessions.ts";
import { getSharedState } from "./shared-engine.ts";

const ttlMaxMs = 86_400_000;

/**
 * Remembers who started a sub-agent, and gives the sub-agent a grant to read the history of that session. A session
 * that has no history yet has nothing to open.
 */
export async function prepareSubagent(varve: Varve, params: SpawnParams): Promise<void> {
  const { parentSessionKey, childSessionKey, ttlMs } = params;
  const agent = readAgentOfKey(parentSessionKey) ?? varve.settings.config.agent;
  const { subagents } = getSharedState();
  subagents.set(childSessionKey, { parentKey: parentSessionKey, agent });
  const { key } = normaliseOpenclawKey(parentSessionKey, agent);
  const grant = await varve.grants.create({
    session: key,
    agent,
    ...(ttlMs === undefined ? {} : { ttlMs: Math.min(Math.max(1, Math.trunc(ttlMs)), ttlMaxMs) }),
  });
  subagents.set(childSessionKey, { parentKey: parentSessionKey, agent, grant: grant.id });
}

/** Ends the grant of a sub-agent. */
export async function endSubagent(varve: Varve, childSessionKey: string): Promise<void> {
  const { subagents } = getSharedState();
  const ended = subagents.get(childSessionKey);
  subagents.delete(childSessionKey);
  if (ended?.grant !== undefined) await varve.grants.revoke(ended.grant, { agent: ended.agent });
}

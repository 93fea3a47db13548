import { isJsonObject } from "../../domain/index.ts";
import type { Session, Varve } from "../../index.ts";
import { normaliseOpenclawKey } from "../../index.ts";
import { findSession } from "../find-session.ts";
import type { SpawnParams } from "./host-types.ts";
import { readAgentOfKey } from "./recorded-sessions.ts";
import { getSharedState, type Subagent } from "./shared-engine.ts";

/** The key of the session that started a sub-agent, as OpenClaw's store has it. */
export type FindParent = (agentId: string, sessionKey: string) => string | undefined;

const ttlMaxMs = 86_400_000;
const stateName = (childSessionKey: string) => `openclaw:subagent:${childSessionKey}`;

/**
 * Remembers who started a sub-agent, and gives the sub-agent a grant to read the history of that session. A session
 * that has no history yet has nothing to open. The grant is kept with the parent's session, so that the sub-agent has it
 * after a restart of OpenClaw too.
 */
export async function prepareSubagent(varve: Varve, params: SpawnParams): Promise<void> {
  const { parentSessionKey, childSessionKey, ttlMs } = params;
  const agent = readAgentOfKey(parentSessionKey) ?? varve.settings.config.agent;
  const { subagents } = getSharedState();
  subagents.set(childSessionKey, { parentKey: parentSessionKey, agent });
  const { key } = normaliseOpenclawKey(parentSessionKey, agent);
  const session = await varve.sessions.get(key, agent);
  const grant = await varve.grants.create({
    session,
    agent,
    ...(ttlMs === undefined ? {} : { ttlMs: Math.min(Math.max(1, Math.trunc(ttlMs)), ttlMaxMs) }),
  });
  subagents.set(childSessionKey, { parentKey: parentSessionKey, agent, grant: grant.id });
  await varve.transcripts.states.change(session, [], () => ({ [stateName(childSessionKey)]: { grant: grant.id } }));
}

/** The parent and the grant of a sub-agent; undefined for other sessions. */
export async function findSubagent(
  varve: Varve,
  childSessionKey: string,
  findParent: FindParent,
): Promise<Subagent | undefined> {
  const { subagents } = getSharedState();
  const known = subagents.get(childSessionKey);
  if (known) return known;
  const parentKey = findParent(readAgentOfKey(childSessionKey) ?? varve.settings.config.agent, childSessionKey);
  const parent = parentKey === undefined ? undefined : await findParentSession(varve, parentKey);
  if (parentKey === undefined || !parent) return undefined;
  const name = stateName(childSessionKey);
  const state = (await varve.transcripts.states.read(parent, [name])).get(name);
  if (!isJsonObject(state) || typeof state.grant !== "string") return undefined;
  const found = { parentKey, agent: parent.agent, grant: state.grant };
  subagents.set(childSessionKey, found);
  return found;
}

/** Ends the grant of a sub-agent. Its id stays with the parent: a tool that is called later must say that it has ended. */
export async function endSubagent(varve: Varve, childSessionKey: string, findParent: FindParent): Promise<void> {
  const ended = await findSubagent(varve, childSessionKey, findParent);
  getSharedState().subagents.delete(childSessionKey);
  if (ended?.grant !== undefined) await varve.grants.revoke(ended.grant, { agent: ended.agent });
}

function findParentSession(varve: Varve, parentKey: string): Promise<Session | undefined> {
  const agent = readAgentOfKey(parentKey) ?? varve.settings.config.agent;
  return findSession(varve, normaliseOpenclawKey(parentKey, agent).key, agent);
}

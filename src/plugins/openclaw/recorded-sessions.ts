import { owner, type Principal } from "../../authorization/index.ts";
import { VarveError } from "../../domain/index.ts";
import { normaliseOpenclawKey, type Session, type Varve } from "../../index.ts";

/** Sessions that OpenClaw keeps in memory only, and those of its own side tasks, which are never committed. */
const unrecorded = /^agent:[^:]+:(?:internal-session-effects:|(?:dashboard|subagent):incognito-)/i;

/** Whether a session is stored. */
export function isRecorded(sessionKey: string | undefined): boolean {
  return sessionKey === undefined || !unrecorded.test(sessionKey);
}

/** The agent that a key names. */
export function readAgentOfKey(sessionKey: string | undefined): string | undefined {
  return /^agent:([^:\s]+):/i.exec(sessionKey ?? "")?.[1]?.toLowerCase();
}

/** The stored session of an OpenClaw session; undefined before its first turn is stored. */
export async function findStoredSession(varve: Varve, sessionId: string, agent: string): Promise<Session | undefined> {
  try {
    return await varve.sessions.get(sessionId, agent);
  } catch (error) {
    if (error instanceof VarveError && error.code === "SESSION_NOT_FOUND") return undefined;
    throw error;
  }
}

/** Who asks in a session of OpenClaw, stored or not; the owner where no session is named. */
export async function resolveKeyedPrincipal(
  varve: Varve,
  sessionKey: string | undefined,
  agent: string,
): Promise<Principal> {
  if (sessionKey === undefined) return owner;
  return varve.sessions.resolvePrincipal({ key: normaliseOpenclawKey(sessionKey, agent).key, agent });
}

/** The stored session of a key of OpenClaw. */
export async function findKeyedSession(
  varve: Varve,
  sessionKey: string | undefined,
  agent: string,
): Promise<Session | undefined> {
  if (sessionKey === undefined) return undefined;
  return findStoredSession(varve, normaliseOpenclawKey(sessionKey, agent).key, agent);
}

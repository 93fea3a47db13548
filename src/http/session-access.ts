import { canUseAgent, foreignAgent } from "../authorization/index.ts";
import { parseSessionKey, VarveError } from "../domain/index.ts";
import type { Varve } from "../index.ts";
import { boundAgent, type TokenPrincipal } from "./tokens.ts";

type Session = Awaited<ReturnType<Varve["sessions"]["get"]>>;

/** Returns the agent of a request: the named one if the principal may use it, else the one it is bound to. */
export function resolveAgent(principal: TokenPrincipal, named: string | undefined): string | undefined {
  if (named === undefined) return boundAgent(principal);
  if (!canUseAgent(principal, named)) throw foreignAgent(principal, named);
  return named;
}

/** Finds the session that a request names. One of a foreign agent gets the same error as a missing one. */
export function requireSession(
  varve: Varve,
  principal: TokenPrincipal,
  name: string,
  agent?: string,
): Promise<Session> {
  return requireFound(principal, name, () => varve.sessions.get(name, resolveAgent(principal, agent)));
}

/** Like `requireSession`, for reading: a session id stands for its own transcript, also when its key has moved on. */
export function requireReadableSession(
  varve: Varve,
  principal: TokenPrincipal,
  name: string,
  agent?: string,
): Promise<Awaited<ReturnType<Varve["sessions"]["find"]>>> {
  return requireFound(principal, name, () => varve.sessions.find(name, resolveAgent(principal, agent)));
}

async function requireFound<Found extends Session>(
  principal: TokenPrincipal,
  name: string,
  find: () => Promise<Found>,
): Promise<Found> {
  try {
    const session = await find();
    if (canUseAgent(principal, session.agent)) return session;
  } catch (error) {
    if (!(error instanceof VarveError && error.code === "SESSION_NOT_FOUND")) throw error;
  }
  throw new VarveError("SESSION_NOT_FOUND", `There is no session ${JSON.stringify(name)}.`, {
    remedy: "Name a session by its key, URL-encoded, or by its session id; GET /api/sessions lists them.",
  });
}

/** Throws when a session key belongs to an agent that the principal may not use. */
export function refuseForeignKey(principal: TokenPrincipal, key: string | undefined): void {
  if (key === undefined) return;
  const parsed = parseSessionKey(key);
  const agent = "agent" in parsed ? parsed.agent : undefined;
  if (agent !== undefined && !canUseAgent(principal, agent)) throw foreignAgent(principal, agent);
}

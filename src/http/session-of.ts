import { parseSessionKey, VarveError } from "../domain/index.ts";
import type { Varve } from "../engine.ts";
import type { Caller } from "./tokens.ts";

type Session = Awaited<ReturnType<Varve["sessions"]["get"]>>;

/** The agent a request is about: the caller's own when they are bound to one, else the one they name. */
export function agentFor(caller: Caller, named: string | undefined): string | undefined {
  if (caller.agent === undefined) return named;
  if (named !== undefined && named !== caller.agent) throw foreignAgent(caller.agent, named);
  return caller.agent;
}

/** The session a request names. One of a foreign agent is answered exactly like one that does not exist. */
export async function sessionOf(varve: Varve, caller: Caller, name: string, agent?: string): Promise<Session> {
  try {
    const session = await varve.sessions.get(name, agentFor(caller, agent));
    if (caller.agent === undefined || session.agent === caller.agent) return session;
  } catch (error) {
    if (!(error instanceof VarveError && error.code === "SESSION_NOT_FOUND")) throw error;
  }
  throw new VarveError("SESSION_NOT_FOUND", `There is no session ${JSON.stringify(name)}.`, {
    remedy: "Name a session by its key, URL-encoded, or by its session id; GET /api/sessions lists them.",
  });
}

/** Refuses a key that names another agent than the given one. */
export function refuseForeignKey(key: string | undefined, agent: string | undefined): void {
  if (key === undefined || agent === undefined) return;
  const parsed = parseSessionKey(key);
  if ("agent" in parsed && parsed.agent !== agent) throw foreignAgent(agent, parsed.agent);
}

function foreignAgent(own: string, foreign: string): VarveError {
  return new VarveError("FORBIDDEN", `This is bound to the agent ${own} and cannot reach into ${foreign}.`, {
    remedy: `Leave the agent out, or name ${own}.`,
  });
}

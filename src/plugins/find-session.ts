import { type Session, type Varve, VarveError } from "../index.ts";

/** A session by its key or session id; undefined when there is none. */
export async function findSession(varve: Varve, name: string, agent?: string): Promise<Session | undefined> {
  try {
    return await varve.sessions.get(name, agent);
  } catch (error) {
    if (error instanceof VarveError && error.code === "SESSION_NOT_FOUND") return undefined;
    throw error;
  }
}

import { identifyBlocks, recordedField, VarveError } from "../domain/index.ts";
import type { Session, Varve } from "../index.ts";
import { alignTranscript, type ComparedUnit, startsWith } from "./alignment.ts";
import type { ClientSession } from "./session-name.ts";

const subagentsAtOnce = 100;

/**
 * Finds the imported transcript of the conversation that a client sends: that of its session, or of one of its
 * sub-agents. Undefined when there is none, when the request does not begin like it, when another client records in it,
 * or when the conversation has a session of its own already.
 */
export async function findClientTranscript(
  varve: Varve,
  client: ClientSession,
  { key, agent }: { key: string; agent?: string },
  compared: readonly ComparedUnit[],
): Promise<Session | undefined> {
  const start = compared.flatMap(({ messages }) => messages.flatMap(identifyBlocks))[0];
  if (start === undefined || (await findSession(varve, key, agent))) return undefined;
  const main = await findSession(varve, client.id, agent);
  if (main?.sessionId !== client.id) return undefined;
  if (mayRecord(client, main) && (await alignTranscript(varve, main, compared)).isSame) {
    return markRecorded(varve, client, main);
  }
  let after: string | undefined;
  do {
    const page = await varve.sessions.list({ agent: main.agent, parent: main.key, limit: subagentsAtOnce, after });
    for (const session of page.sessions) {
      const isOfClient = session.sessionId.startsWith(`${client.id}.`) && mayRecord(client, session);
      if (isOfClient && (await startsWith(varve, session, start))) return markRecorded(varve, client, session);
    }
    after = page.next;
  } while (after !== undefined);
  return undefined;
}

function mayRecord({ owner, readsAll }: ClientSession, { metadata }: Session): boolean {
  return readsAll || metadata[recordedField] === undefined || metadata[recordedField] === owner;
}

/** From now on imports compare the client's file with what was recorded, and other clients are kept out. */
async function markRecorded(varve: Varve, { owner }: ClientSession, session: Session): Promise<Session> {
  if (session.metadata[recordedField] !== undefined) return session;
  return varve.sessions.update(session, { metadata: { ...session.metadata, [recordedField]: owner } });
}

async function findSession(varve: Varve, name: string, agent: string | undefined): Promise<Session | undefined> {
  try {
    return await varve.sessions.get(name, agent);
  } catch (error) {
    if (error instanceof VarveError && (error.code === "SESSION_NOT_FOUND" || error.code === "AMBIGUOUS")) {
      return undefined;
    }
    throw error;
  }
}

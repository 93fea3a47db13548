import { identifyBlocks, VarveError } from "../domain/index.ts";
import type { Session, Varve } from "../index.ts";
import { alignTranscript, type ComparedUnit, startsWith } from "./alignment.ts";
import { addOwner, mayRecord } from "./ownership.ts";
import type { ClientSession } from "./session-name.ts";

const subagentsAtOnce = 100;

/**
 * Finds the imported transcript of the conversation that a client sends: that of its session, or of one of its
 * sub-agents. Undefined when there is none, when the request does not begin like it, when it belongs to another client,
 * or when the conversation has a session of its own already.
 */
export async function findClientTranscript(
  varve: Varve,
  client: ClientSession,
  { keys, agent }: { keys: readonly string[]; agent?: string },
  compared: readonly ComparedUnit[],
): Promise<Session | undefined> {
  const start = compared.flatMap(({ messages }) => messages.flatMap(identifyBlocks))[0];
  if (start === undefined) return undefined;
  for (const key of keys) if (await findSession(varve, key, agent)) return undefined;
  const main = await findSession(varve, client.id, agent);
  if (main?.sessionId !== client.id) return undefined;
  const { isSame, known } = await alignTranscript(varve, main, compared);
  if (isSame && mayRecord(client, main, known)) return addOwner(varve, client, main);
  let after: string | undefined;
  do {
    const page = await varve.sessions.list({ agent: main.agent, parent: main.key, limit: subagentsAtOnce, after });
    for (const session of page.sessions) {
      const isOfClient = session.sessionId.startsWith(`${client.id}.`);
      if (!isOfClient || !(await startsWith(varve, session, start))) continue;
      const aligned = await alignTranscript(varve, session, compared);
      if (mayRecord(client, session, aligned.known)) return addOwner(varve, client, session);
    }
    after = page.next;
  } while (after !== undefined);
  return undefined;
}

export async function findSession(varve: Varve, name: string, agent: string | undefined): Promise<Session | undefined> {
  try {
    return await varve.sessions.get(name, agent);
  } catch (error) {
    if (error instanceof VarveError && (error.code === "SESSION_NOT_FOUND" || error.code === "AMBIGUOUS")) {
      return undefined;
    }
    throw error;
  }
}

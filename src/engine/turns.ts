import { join } from "node:path";
import { z } from "zod";
import { type JsonObject, printSessionKey, VarveError } from "../domain/index.ts";
import { resolveAgent, routeAddress, type Session, tokensUpdate } from "../session/index.ts";
import { attachStatement } from "../store/index.ts";
import type { BoundTool } from "../tools/index.ts";
import { appendEntries } from "../transcript/index.ts";
import {
  type Accepted,
  type Found,
  type Inbound,
  type MessageState,
  type TurnEvent,
  type TurnHost,
  TurnQueue,
  type TurnResult,
} from "../turn/index.ts";
import { packageFolder } from "../version.ts";
import { commitTurn } from "./commit-turn.ts";
import { assembleFor, type Context } from "./context.ts";
import { describeLater } from "./describe-files.ts";
import { type EngineHost, sessionSettings } from "./host.ts";
import type { Memories } from "./memories.ts";
import type { Search } from "./search.ts";
import type { Sessions } from "./sessions.ts";
import { refOf } from "./transcripts.ts";

/** A message in, a reply out. */
export interface Turns {
  /** Takes a message in: when this returns, it will be answered once, whatever becomes of this process. */
  accept(inbound: Inbound): Promise<Accepted>;
  /** What happens to a message until its turn ends, also when another process runs it. */
  follow(accepted: Pick<Accepted, "id"> & { agent?: string }, signal?: AbortSignal): AsyncGenerator<TurnEvent>;
  /** Both: takes a message in and waits for the end of its turn. */
  send(inbound: Inbound, options?: { signal?: AbortSignal; onEvent?: (event: TurnEvent) => void }): Promise<TurnResult>;
  /** Ends the turn of a session that this process runs, as another message would; false when there is none. */
  interrupt(key: string, agent?: string): boolean;
  /** Where a message is. */
  get(id: string, agent?: string): Promise<MessageState>;
  /** Runs the turns that wait, and those that come, until it is stopped. */
  start(): void;
  /** Takes no more turns, waits a while for those under way, and leaves the rest to others. */
  stop(graceMs?: number): Promise<void>;
}

interface Parts {
  sessions: Sessions;
  context: Context;
  search: Search;
  memory: Memories;
  tools(session: Session): Promise<readonly BoundTool[]>;
  /** Whether what is accepted here is run here. */
  background: boolean;
}

export function turnsOf(host: EngineHost, parts: Parts): Turns {
  const queue = new TurnQueue(turnHost(host, parts), {
    onError(error) {
      const text = error instanceof Error ? error.message : String(error);
      host.emit({ type: "turn.failed", agent: host.loaded.config.agent, key: "", data: { error: text } });
    },
    onEnded(agent, { key, sessionId, turn, messages, status, reply }) {
      host.emit({ type: "turn.ended", agent, key, sessionId, data: { turn, messages, status, reply } });
    },
  });
  const agentFor = (agent: string | undefined): string => agent ?? host.loaded.config.agent;
  let runs = parts.background;
  const accept = (inbound: Inbound): Promise<Accepted> => queue.accept(inbound, { run: runs });
  const follow: Turns["follow"] = ({ id, agent }, signal) => queue.follow({ id, agent: agentFor(agent) }, signal);
  return {
    accept,
    follow,
    async send(inbound, { signal, onEvent } = {}) {
      const accepted = await accept(inbound);
      onEvent?.({ type: "accepted", id: accepted.id, key: accepted.key, duplicate: accepted.duplicate });
      for await (const event of follow(accepted, signal)) {
        onEvent?.(event);
        if (event.type === "ended") return event.result;
      }
      throw new VarveError("INTERNAL", "The turn ended without a word.");
    },
    interrupt: (key, agent) => queue.interrupt(agentFor(agent), key),
    get: (id, agent) => queue.get(agentFor(agent), id),
    start() {
      runs = true;
      queue.start();
    },
    stop(graceMs) {
      runs = parts.background;
      return queue.stop(graceMs);
    },
  };
}

const schemas = new WeakMap<z.ZodType, JsonObject>();

/** The form of a tool's input never changes, and writing it out is most of what offering a tool costs. */
function schemaOf(input: z.ZodType): JsonObject {
  const known = schemas.get(input) ?? (z.toJSONSchema(input, { io: "input" }) as JsonObject);
  schemas.set(input, known);
  return known;
}

function turnHost(host: EngineHost, { sessions, context, search, memory, tools }: Parts): TurnHost {
  const { store, clock, random } = host;
  const { config, home } = host.loaded;
  const settings = sessionSettings(host.loaded);
  return {
    config,
    home,
    store,
    clock,
    random,
    sessions: {
      keyOf(address) {
        const key = routeAddress(address, settings);
        return { agent: resolveAgent(key, address.agent ?? settings.agent), key: printSessionKey(key) };
      },
      // What is said in a turn is appended with its time.
      receive: (address, text, options) => sessions.receive(address, text, { ...options, touchedByAppend: true }),
      get: (key, agent) => sessions.get(key, agent),
      maySend: sessions.maySend,
      takeNotices: sessions.takeNotices,
      tokensUpdate: (session, used) => attachStatement(tokensUpdate(store.db, clock.now(), session, used)),
      noteFlush: (session) => noteFlush(host, session),
    },
    context: {
      async append(session, entries, options) {
        const result = await appendEntries(store, refOf(session), entries, host, undefined, {
          ...options,
          interactionAt: session.lastInteractionAt,
        });
        await describeLater(host, session, result);
        return result;
      },
      prepare: context.prepare,
      async assemble(session, request) {
        const { view, stood } = await assembleFor(host, session, request);
        return { ...view, stood };
      },
      fitMidTurn: context.fitMidTurn,
      compact: context.compact,
      recoverFromOverflow: context.recoverFromOverflow,
      async commit(session, key, messages, facts, also) {
        const { status } = await commitTurn(host, session, key, messages, facts, also);
        if (status === "duplicate") throw new VarveError("CONFLICT", `The turn ${key} was committed before.`);
      },
      overview: context.overview,
    },
    memory: {
      async recall(agent, query, limit) {
        const { hits } = await memory.recall({ query, limit, as: { agent } });
        return hits.map(({ memory: one }): Found => ({ text: one.abstract, citation: one.id, time: one.validFrom }));
      },
      async remember(session, text) {
        const { current } = await memory.add({ text, session, as: { agent: session.agent } });
        return { id: current.id, text: current.abstract };
      },
      forget: async (agent, query) => (await memory.forget({ query }, { as: { agent } })).memories,
    },
    async find(agent, query, limit) {
      const { results } = await search.find(query, { agent, limit, kinds: ["message", "summary", "chunk", "file"] });
      return results.map(({ snippet, citation, time, sessionKey }) => ({
        text: snippet,
        citation,
        time,
        ...(sessionKey === null ? {} : { sessionKey }),
        ...(citation.startsWith("msg#") ? { seq: Number(citation.slice("msg#".length)) } : {}),
      }));
    },
    async tools(session) {
      const bound = await tools(session);
      return bound.map(({ name, description, input, run }) => ({ name, description, input: schemaOf(input), run }));
    },
    mcpCommand: ({ key, agent }) => ({
      command: process.execPath,
      args: [join(packageFolder, "bin", "varve.js"), "mcp", "--session", key, "--agent", agent],
      env: { VARVE_HOME: home, VARVE_DATABASE: config.database },
    }),
    noteModel: (purpose, model, outcome) => host.modelNotes.note(purpose, model, outcome),
  };
}

async function noteFlush({ store, clock }: EngineHost, session: Session): Promise<void> {
  await store.transaction(async ({ db }) => {
    await db
      .updateTable("sessions")
      .set({ memory_flush_at: clock.now(), memory_flush_compaction_count: session.compactionCount })
      .where("agent", "=", session.agent)
      .where("key", "=", session.key)
      .execute();
  });
}

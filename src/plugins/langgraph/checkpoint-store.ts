import { jsonEqual } from "../../domain/index.ts";
import { type Session, type Varve, VarveError } from "../../index.ts";
import type { SpeakerOptions } from "../speaker.ts";
import {
  type CheckpointRow,
  checkpointName,
  checkpointPrefix,
  latestName,
  latestPrefix,
  placeValue,
  readCheckpointRow,
  readWriteRows,
  toJson,
  type WriteRow,
  writesName,
} from "./checkpoint-rows.ts";
import { GraphSessions } from "./graph-sessions.ts";
import type { Checkpoint, CheckpointSaverBase, CheckpointTuple, GraphConfig, ListOptions } from "./host-types.ts";
import { dumpValue, loadValue, readStoredValue, type StoredValue } from "./stored-values.ts";
import { type LogPlace, ThreadLog } from "./thread-log.ts";

const channel = "langgraph";
/** Writes of these channels replace earlier ones of the same task; others are written once. LangGraph's own numbers. */
const specialWrites: Readonly<Record<string, number>> = {
  __error__: -1,
  __scheduled__: -2,
  __interrupt__: -3,
  __resume__: -4,
};
/** The channel of pending tasks, which older checkpoints kept as writes of their parent. */
const tasksChannel = "__pregel_tasks";
const tasksVersion = 4;

/** Who speaks: with a function, the person is read from the `configurable` of each run. */
export type ThreadSpeaker = Omit<SpeakerOptions, "peer"> & { peer?: string | ReadPeer };

/** Returns the id of the person who speaks in a run; what is no text, or an empty one, is refused. */
export type ReadPeer = (configurable: Readonly<Record<string, unknown>>) => unknown;

interface Place {
  threadId: string;
  namespace: string;
  checkpointId: string | undefined;
}

/** Reads and writes the checkpoints of threads. */
export class CheckpointStore {
  readonly #varve: Varve;
  readonly #saver: CheckpointSaverBase;
  readonly #agent: string | undefined;
  readonly #who: ThreadSpeaker;
  readonly #log: ThreadLog;

  constructor(varve: Varve, saver: CheckpointSaverBase, agent: string | undefined, who: ThreadSpeaker) {
    this.#varve = varve;
    this.#saver = saver;
    this.#agent = agent;
    this.#who = who;
    this.#log = new ThreadLog(varve);
  }

  async get(config: GraphConfig): Promise<CheckpointTuple | undefined> {
    const { threadId, namespace, checkpointId } = readConfig(config);
    if (threadId === undefined) return undefined;
    const sessions = await this.#openSessions(config);
    const thread = await sessions.find(channel, [threadId]);
    if (!thread) return undefined;
    const id = checkpointId ?? (await this.#readLatest(thread, namespace));
    return id === undefined ? undefined : this.#read(sessions, thread, { threadId, namespace, checkpointId: id });
  }

  async *list(config: GraphConfig, options: ListOptions): AsyncGenerator<CheckpointTuple> {
    const { threadId, checkpointId } = readConfig(config);
    const namespace = config.configurable?.checkpoint_ns as string | undefined;
    const before = readConfig(options.before ?? {}).checkpointId;
    let left = options.limit ?? Number.POSITIVE_INFINITY;
    const sessions = await this.#openSessions(config);
    for await (const { session, thread } of listThreads(sessions, threadId)) {
      for (const name of namespace === undefined ? await this.#listNamespaces(session) : [namespace]) {
        const prefix = checkpointPrefix(name);
        const names = await this.#varve.transcripts.states.list(session, prefix);
        const ids = names.map((one) => one.slice(prefix.length)).sort();
        for (const id of ids.reverse()) {
          if (left <= 0) return;
          if ((checkpointId !== undefined && id !== checkpointId) || (before !== undefined && id >= before)) continue;
          const tuple = await this.#read(sessions, session, { threadId: thread, namespace: name, checkpointId: id });
          if (!tuple || !matches(tuple.metadata ?? {}, options.filter ?? {})) continue;
          left -= 1;
          yield tuple;
        }
      }
    }
  }

  async put(
    config: GraphConfig,
    checkpoint: Checkpoint,
    metadata: Record<string, unknown>,
    newVersions: Record<string, unknown>,
  ): Promise<GraphConfig> {
    const { threadId, namespace, checkpointId: parent } = requireThread(config, "checkpoint");
    const sessions = await this.#openSessions(config);
    const thread = await sessions.open(channel, [threadId]);
    const previous = parent === undefined ? undefined : await this.#readRow(thread, namespace, parent);
    const { channel_values, ...rest } = checkpoint;
    const { serde } = this.#saver;
    // A channel without a new version has the value of the checkpoint before.
    const inherited = new Map(previous?.channels);
    const names = Object.keys(channel_values);
    const changed = names.filter((name) => name in newVersions);
    const values = await Promise.all(changed.map((name) => dumpValue(serde, channel_values[name])));
    const place = await openLog(sessions, thread, { threadId, namespace }, previous);
    const stored = await this.#log.store(values, place);
    const placed = stored.values.map(placeValue);
    const row: CheckpointRow = {
      ...(parent === undefined ? {} : { parent }),
      checkpoint: await dumpValue(serde, rest),
      metadata: await dumpValue(serde, metadata),
      channels: names.flatMap((name): CheckpointRow["channels"] => {
        const value = placed[changed.indexOf(name)]?.placed ?? inherited.get(name);
        return value === undefined ? [] : [[name, value]];
      }),
      head: stored.head ?? previous?.head ?? null,
    };
    const latest = latestName(namespace);
    await this.#varve.transcripts.states.change(thread, [latest], (current) => {
      const newest = String(current.get(latest) ?? "");
      return {
        ...Object.assign({}, ...placed.map(({ states }) => states)),
        [checkpointName(namespace, checkpoint.id)]: toJson(row),
        [latest]: newest > checkpoint.id ? newest : checkpoint.id,
      };
    });
    if (namespace === "" && stored.head !== undefined) await this.#varve.context.afterTurn(thread);
    return toConfig({ threadId, namespace, checkpointId: checkpoint.id });
  }

  async putWrites(config: GraphConfig, writes: readonly [string, unknown][], task: string): Promise<void> {
    const { threadId, namespace, checkpointId } = requireThread(config, "writes");
    if (checkpointId === undefined) throw missingError("writes", "checkpoint_id");
    const thread = await (await this.#openSessions(config)).open(channel, [threadId]);
    const rows = await Promise.all(
      writes.map(async ([name, value], index): Promise<WriteRow> => {
        return {
          task,
          index: specialWrites[name] ?? index,
          channel: name,
          value: await dumpValue(this.#saver.serde, value),
        };
      }),
    );
    const name = writesName(namespace, checkpointId);
    await this.#varve.transcripts.states.change(thread, [name], (current) => {
      const known = readWriteRows(current.get(name));
      for (const row of rows) {
        const at = known.findIndex((one) => one.task === row.task && one.index === row.index);
        if (at === -1) known.push(row);
        else if (row.index < 0) known[at] = row;
      }
      return { [name]: known.map(toJson) };
    });
  }

  /** Deletes a thread with its sub-graphs: checkpoints, writes and messages. Only where it is known who asks. */
  async deleteThread(threadId: string): Promise<void> {
    if (typeof this.#who.peer === "function") {
      throw new VarveError("BAD_REQUEST", "A thread is deleted without a config, so peer cannot be read from it.", {
        remedy: "Use a checkpointer of that person: createCheckpointer({ …, peer: user.id }).deleteThread(threadId).",
      });
    }
    const sessions = await this.#openSessions({});
    const thread = await sessions.find(channel, [threadId]);
    for await (const { session, names } of sessions.list(channel)) {
      if (names.length > 1 && names[0] === threadId) await this.#varve.sessions.delete(session);
    }
    if (thread) await this.#varve.sessions.delete(thread);
  }

  /** The sessions of who speaks in a run. */
  #openSessions({ configurable = {} }: GraphConfig): Promise<GraphSessions> {
    const { peer, ...who } = this.#who;
    // Whatever the function returns is checked with the other options.
    if (typeof peer === "function")
      return GraphSessions.open(this.#varve, this.#agent, { ...who, peer: peer(configurable) as string });
    return GraphSessions.open(this.#varve, this.#agent, peer === undefined ? who : { ...who, peer });
  }

  async #listNamespaces(thread: Session): Promise<string[]> {
    const names = await this.#varve.transcripts.states.list(thread, latestPrefix);
    return names.map((name) => name.slice(latestPrefix.length)).sort();
  }

  async #readLatest(thread: Session, namespace: string): Promise<string | undefined> {
    const name = latestName(namespace);
    const found = (await this.#varve.transcripts.states.read(thread, [name])).get(name);
    return typeof found === "string" ? found : undefined;
  }

  async #readRow(thread: Session, namespace: string, id: string): Promise<CheckpointRow | undefined> {
    const name = checkpointName(namespace, id);
    const found = (await this.#varve.transcripts.states.read(thread, [name])).get(name);
    return found === undefined ? undefined : readCheckpointRow(found);
  }

  async #read(
    sessions: GraphSessions,
    thread: Session,
    place: Place & { checkpointId: string },
  ): Promise<CheckpointTuple | undefined> {
    const { threadId, namespace, checkpointId } = place;
    const [name, writes] = [checkpointName(namespace, checkpointId), writesName(namespace, checkpointId)];
    const states = await this.#varve.transcripts.states.read(thread, [name, writes]);
    const found = states.get(name);
    if (found === undefined) return undefined;
    const row = readCheckpointRow(found);
    const { serde } = this.#saver;
    const values = await this.#loadChannels(sessions, thread, { threadId, namespace }, row);
    const checkpoint = {
      ...((await loadValue(serde, row.checkpoint)) as Omit<Checkpoint, "channel_values">),
      channel_values: values,
    };
    if (checkpoint.v < tasksVersion && row.parent !== undefined)
      await this.#addPendingTasks(thread, namespace, row.parent, checkpoint);
    return {
      config: toConfig(place),
      checkpoint,
      metadata: (await loadValue(serde, row.metadata)) as Record<string, unknown>,
      pendingWrites: await this.#loadWrites(readWriteRows(states.get(writes))),
      ...(row.parent === undefined ? {} : { parentConfig: toConfig({ ...place, checkpointId: row.parent }) }),
    };
  }

  async #loadChannels(
    sessions: GraphSessions,
    thread: Session,
    { threadId, namespace }: Pick<Place, "threadId" | "namespace">,
    { channels }: CheckpointRow,
  ): Promise<Record<string, unknown>> {
    const names = channels.flatMap(([, value]) => (typeof value === "string" ? [value] : []));
    const large = await this.#varve.transcripts.states.read(thread, names);
    const stored = channels.map(
      ([, value]): StoredValue => (typeof value === "string" ? readStoredValue(large.get(value)) : value),
    );
    const session = namespace === "" ? thread : await sessions.find(channel, [threadId, toPath(namespace)]);
    const texts = await this.#log.load(
      stored,
      session && session !== thread ? { session, parent: thread } : { session: thread },
    );
    const values = await Promise.all(texts.map((value) => loadValue(this.#saver.serde, value)));
    return Object.fromEntries(channels.map(([name], index) => [name, values[index]]));
  }

  #loadWrites(rows: readonly WriteRow[]): Promise<[string, string, unknown][]> {
    return Promise.all(
      rows.map(async (row): Promise<[string, string, unknown]> => {
        return [row.task, row.channel, await loadValue(this.#saver.serde, row.value)];
      }),
    );
  }

  async #addPendingTasks(thread: Session, namespace: string, parent: string, checkpoint: Checkpoint): Promise<void> {
    const name = writesName(namespace, parent);
    const states = await this.#varve.transcripts.states.read(thread, [name]);
    const writes = await this.#loadWrites(
      readWriteRows(states.get(name)).filter((row) => row.channel === tasksChannel),
    );
    const versions = Object.values(checkpoint.channel_versions);
    const newest = versions.reduce<number | string | undefined>(
      (most, one) => (most === undefined || one > most ? one : most),
      undefined,
    );
    checkpoint.channel_values[tasksChannel] = writes.map(([, , value]) => value);
    checkpoint.channel_versions[tasksChannel] = newest ?? this.#saver.getNextVersion(undefined);
  }
}

async function* listThreads(
  sessions: GraphSessions,
  threadId: string | undefined,
): AsyncGenerator<{ session: Session; thread: string }> {
  if (threadId !== undefined) {
    const session = await sessions.find(channel, [threadId]);
    if (session) yield { session, thread: threadId };
    return;
  }
  for await (const { session, names } of sessions.list(channel)) {
    const [thread, ...rest] = names;
    if (thread !== undefined && rest.length === 0) yield { session, thread };
  }
}

/** A sub-graph has a session of its own: what it says is not part of the conversation of its thread. */
async function openLog(
  sessions: GraphSessions,
  thread: Session,
  { threadId, namespace }: Pick<Place, "threadId" | "namespace">,
  previous: CheckpointRow | undefined,
): Promise<LogPlace> {
  if (namespace === "") return { session: thread, ...(previous ? { after: previous.head } : {}) };
  return { session: await sessions.open(channel, [threadId, toPath(namespace)], thread), parent: thread };
}

/** The names of the nodes of a sub-graph, without the ids of their tasks. */
function toPath(namespace: string): string {
  return namespace
    .split("|")
    .map((part) => part.split(":")[0])
    .join("|");
}

function readConfig({ configurable = {} }: GraphConfig): Omit<Place, "threadId"> & { threadId: string | undefined } {
  const { thread_id, checkpoint_ns, checkpoint_id, thread_ts } = configurable;
  const text = (value: unknown) => (value === undefined || value === null || value === "" ? undefined : String(value));
  return {
    threadId: text(thread_id),
    namespace: text(checkpoint_ns) ?? "",
    checkpointId: text(checkpoint_id) ?? text(thread_ts),
  };
}

function requireThread(config: GraphConfig, what: string): Place {
  const { threadId, ...place } = readConfig(config);
  if (threadId === undefined) throw missingError(what, "thread_id");
  return { threadId, ...place };
}

function missingError(what: string, field: string): VarveError {
  return new VarveError("BAD_REQUEST", `The ${what} cannot be stored: the config has no configurable.${field}.`, {
    remedy: `Pass it with the call: graph.invoke(input, { configurable: { thread_id: "my-thread" } }).`,
  });
}

function toConfig({ threadId, namespace, checkpointId }: Place): GraphConfig {
  return { configurable: { thread_id: threadId, checkpoint_ns: namespace, checkpoint_id: checkpointId } };
}

function matches(metadata: Record<string, unknown>, filter: Record<string, unknown>): boolean {
  return Object.entries(filter).every(([name, value]) => jsonEqual(metadata[name], value));
}

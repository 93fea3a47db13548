import type { Varve } from "../../index.ts";
import { checkSpeaker, pickSpeaker, type SpeakerOptions, warnWithoutSpeaker } from "../speaker.ts";
import { CheckpointStore, type ReadPeer, type ThreadSpeaker } from "./checkpoint-store.ts";
import type {
  Checkpoint,
  CheckpointSaverClass,
  CheckpointTuple,
  GraphConfig,
  ListOptions,
  Serde,
} from "./host-types.ts";

export interface CheckpointerOptions<S> extends Omit<SpeakerOptions, "peer"> {
  varve: Varve;
  /** `BaseCheckpointSaver` of `@langchain/langgraph`. */
  BaseCheckpointSaver: abstract new (
    ...args: never[]
  ) => S;
  /** The agent of the sessions; the setting `agent` when absent. */
  agent?: string;
  /**
   * The id of the person whose threads these are; or a function that reads it from the `configurable` of each run, where
   * the program has put it. A run without an id is refused: a thread id says nothing about who asks.
   */
  peer?: string | ReadPeer;
  /** Serialises checkpoints instead of LangGraph's own. Messages that it encrypts cannot be searched. */
  serde?: unknown;
}

/**
 * A checkpointer for graphs of LangGraph. Each thread is a session of the person who speaks in it: its messages are stored
 * once and can be searched, summarised and recalled like all others; going back in time continues them on a branch.
 * Checkpoints come back as they were. A thread of another person is not opened, although its id is known. With neither `peer`
 * nor `owner`, a thread belongs to nobody and sees only itself.
 *
 * @example
 * const graph = builder.compile({
 *   checkpointer: createCheckpointer({ varve, BaseCheckpointSaver, peer: ({ user_id }) => user_id }),
 * });
 * await graph.invoke({ messages }, { configurable: { thread_id: chatId, user_id: user.id } });
 */
export function createCheckpointer<S>(options: CheckpointerOptions<S>): S {
  const { varve, BaseCheckpointSaver, agent, serde } = options;
  const who = readSpeaker(options);
  warnWithoutSpeaker("createCheckpointer of varve/langgraph", who);
  const Base = BaseCheckpointSaver as unknown as CheckpointSaverClass;
  class VarveSaver extends Base {
    readonly #store: CheckpointStore;

    constructor() {
      super(serde as Serde | undefined);
      this.#store = new CheckpointStore(varve, this, agent, who);
    }

    getTuple(config: GraphConfig): Promise<CheckpointTuple | undefined> {
      return this.#store.get(config);
    }

    list(config: GraphConfig, options: ListOptions = {}): AsyncGenerator<CheckpointTuple> {
      return this.#store.list(config, options);
    }

    put(
      config: GraphConfig,
      checkpoint: Checkpoint,
      metadata: Record<string, unknown>,
      newVersions: Record<string, unknown>,
    ): Promise<GraphConfig> {
      return this.#store.put(config, checkpoint, metadata, newVersions);
    }

    putWrites(config: GraphConfig, writes: [string, unknown][], taskId: string): Promise<void> {
      return this.#store.putWrites(config, writes, taskId);
    }

    deleteThread(threadId: string): Promise<void> {
      return this.#store.deleteThread(threadId);
    }
  }
  return new VarveSaver() as unknown as S;
}

function readSpeaker<S>(given: CheckpointerOptions<S>): ThreadSpeaker {
  const { peer, ...options } = given;
  if (typeof peer === "function") return { ...pickSpeaker(options), peer };
  const who = pickSpeaker("peer" in given ? { ...options, peer } : options);
  checkSpeaker(who);
  return who;
}

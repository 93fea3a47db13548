import type { Varve } from "../../index.ts";
import { CheckpointStore } from "./checkpoint-store.ts";
import type {
  Checkpoint,
  CheckpointSaverClass,
  CheckpointTuple,
  GraphConfig,
  ListOptions,
  Serde,
} from "./host-types.ts";

export interface CheckpointerOptions<S> {
  varve: Varve;
  /** `BaseCheckpointSaver` of `@langchain/langgraph`. */
  BaseCheckpointSaver: abstract new (
    ...args: never[]
  ) => S;
  /** The agent of the sessions; the setting `agent` when absent. */
  agent?: string;
  /** Serialises checkpoints instead of LangGraph's own. Messages that it encrypts cannot be searched. */
  serde?: unknown;
}

/**
 * A checkpointer for graphs of LangGraph. Each thread is a session: its messages are stored once and can be searched,
 * summarised and recalled like all others; going back in time continues them on a branch. Checkpoints come back as they
 * were.
 *
 * @example
 * const graph = builder.compile({ checkpointer: createCheckpointer({ varve, BaseCheckpointSaver }) });
 */
export function createCheckpointer<S>({ varve, BaseCheckpointSaver, agent, serde }: CheckpointerOptions<S>): S {
  const Base = BaseCheckpointSaver as unknown as CheckpointSaverClass;
  class VarveSaver extends Base {
    readonly #store: CheckpointStore;

    constructor() {
      super(serde as Serde | undefined);
      this.#store = new CheckpointStore(varve, this, agent);
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

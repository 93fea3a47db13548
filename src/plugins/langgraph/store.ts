import type { Varve } from "../../index.ts";
import { checkSpeaker, pickSpeaker, type SpeakerOptions, warnWithoutSpeaker } from "../speaker.ts";
import type { Operation } from "./host-types.ts";
import { ItemStore } from "./item-store.ts";

export interface StoreOptions<S> extends SpeakerOptions {
  varve: Varve;
  /** `BaseStore` of `@langchain/langgraph`. */
  BaseStore: abstract new (
    ...args: never[]
  ) => S;
  /** The agent of the items; the setting `agent` when absent. */
  agent?: string;
  /** The fields of items that searches read; everything when absent. A put may name others. */
  fields?: readonly string[];
}

/**
 * A store for graphs of LangGraph: items by namespace and key, found by filter, by words and by meaning. Every version of
 * an item stays in the log. LangGraph does not tell a store who asks: for several people, compile the graph for each, with
 * their `peer`. They may use the same namespaces; nobody reads the items of another. With neither `peer` nor `owner`, a
 * namespace belongs to nobody and sees only itself.
 *
 * @example
 * const graph = builder.compile({ store: createStore({ varve, BaseStore, peer: user.id }) });
 */
export function createStore<S>(options: StoreOptions<S>): S {
  const { varve, BaseStore, agent, fields } = options;
  const who = pickSpeaker(options);
  checkSpeaker(who);
  warnWithoutSpeaker("createStore of varve/langgraph", who);
  const Base = BaseStore as unknown as new () => object;
  class VarveStore extends Base {
    readonly #items = new ItemStore({ varve, agent, fields, who });

    async batch(operations: readonly Operation[]): Promise<unknown[]> {
      const results: unknown[] = [];
      for (const operation of operations) results.push(await this.#run(operation));
      return results;
    }

    /** Keeps the database out of what LangGraph prints. */
    toJSON(): string {
      return "[VarveStore]";
    }

    #run(operation: Operation): Promise<unknown> {
      if ("namespacePrefix" in operation) return this.#items.search(operation);
      if ("value" in operation) return this.#items.put(operation);
      if ("key" in operation) return this.#items.get(operation);
      return this.#items.listNamespaces(operation);
    }
  }
  return new VarveStore() as unknown as S;
}

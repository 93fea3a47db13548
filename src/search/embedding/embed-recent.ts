import type { SearchContext } from "../search-context.ts";
import type { FindOptions } from "../types.ts";
import { type EmbedPendingOptions, type EmbedPendingResult, embedPendingMemories } from "./embed-pending.ts";
import { countPendingChunks, countPendingMessages } from "./pending-texts.ts";

/** How long a search embeds instant vectors before it begins; the rest is left to later calls. */
const instantMsMax = 1_000;

/** Notes for an answer about texts that were not embedded. */
export interface RecentNotes {
  failed?: string;
  pending?: string;
}

/** Embeds what came since the last search, so that it is found by meaning. */
export interface RecentEmbedding {
  /** Embeds pending texts of an agent if they are few; `isEmbedded` when the model has no messages left. */
  embedTexts(
    agent: string,
    options: Pick<FindOptions, "tier" | "vectorWaitMs">,
  ): Promise<RecentNotes & { isEmbedded?: boolean }>;
  /** Embeds pending memories if they are few, for requests of all principals. */
  embedMemories(signal?: AbortSignal): Promise<RecentNotes>;
}

export interface RecentEmbeddingOptions {
  context: SearchContext;
  owner: string;
  /** More texts than this are left to `varve index`. */
  freshMax: number;
  index(options: EmbedPendingOptions): Promise<EmbedPendingResult>;
}

export function createRecentEmbedding({ context, owner, freshMax, index }: RecentEmbeddingOptions): RecentEmbedding {
  const { store, embedder } = context;
  /** Agents whose messages all had an instant vector once; new messages get theirs together with that of the model. */
  const instantAgents = new Set<string>();
  const addInstantVectors = async (agent: string, msMax: number): Promise<"done" | "unfinished"> => {
    const { status } = await index({ agent, tier: "instant", msMax });
    if (status === "done") instantAgents.add(agent);
    return status === "stopped" ? "unfinished" : "done";
  };
  return {
    async embedTexts(agent, { tier, vectorWaitMs: msMax = instantMsMax }) {
      if (!embedder) return {};
      if (tier === "instant") {
        const isUnfinished = context.instant && (await addInstantVectors(agent, msMax)) === "unfinished";
        const pending =
          "some messages have no instant vector yet and match by words only; run `varve index` to add them";
        return isUnfinished ? { pending } : {};
      }
      const space = await context.vectorCache?.id();
      const [messages, chunks] = await Promise.all([
        countPendingMessages(store, agent, space),
        countPendingChunks(context, agent),
      ]);
      const lacksInstant = messages > 0 || !instantAgents.has(agent);
      if (context.instant && lacksInstant) await addInstantVectors(agent, msMax);
      if (messages + chunks === 0) return { isEmbedded: true };
      if (messages + chunks <= freshMax) {
        try {
          if ((await index({ agent })).status === "done") return { isEmbedded: true };
        } catch (error) {
          // The search continues with its words and the existing vectors.
          return { failed: describeError(error) };
        }
      }
      const print = (count: number, what: string) =>
        count === 0 ? [] : [count >= 1_000 ? `1,000 or more ${what}` : `${count} ${what}`];
      const all = [...print(messages, "messages"), ...print(chunks, "file chunks")].join(" and ");
      const by = context.instant ? "words and instant vectors" : "words only";
      return { pending: `${all} are not embedded yet and match by ${by}; run \`varve index\` to embed them` };
    },
    async embedMemories(signal) {
      const { memoryVectors } = context;
      if (!memoryVectors) return {};
      const count = (await memoryVectors.findPending(freshMax + 1)).length;
      if (count === 0) return {};
      if (count <= freshMax) {
        try {
          if ((await embedPendingMemories(context, owner, { max: count, signal })).embedded > 0) return {};
        } catch (error) {
          signal?.throwIfAborted();
          return { failed: describeError(error) };
        }
      }
      const all = count > freshMax ? `more than ${freshMax}` : String(count);
      return {
        pending: `${all} memories are not embedded yet and match by words only; run \`varve index\` to embed them`,
      };
    },
  };
}

function describeError(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

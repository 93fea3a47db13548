import { find } from "./find.ts";
import type { SearchContext } from "./search-context.ts";

export interface RankRequest {
  agent: string;
  conversation?: number;
  prompt: string;
  limit: number;
  signal?: AbortSignal;
}

/** The messages of a conversation that a prompt is about, best first: for whoever puts a context together. */
export async function rankMessages(
  room: SearchContext,
  request: RankRequest,
): Promise<{ seq: number; score: number }[]> {
  const { agent, conversation, prompt, limit, signal } = request;
  const answer = await find(room, prompt, {
    agent,
    conversation,
    kinds: ["message"],
    limit,
    signal,
    // A context is put together before a model is asked; a network must not be waited for.
    noNetwork: true,
    // Whatever is recalled is read by a model: near-duplicates and age are for it to judge.
    skipStages: ["diversity", "recency"],
  });
  return answer.results.map((result) => ({ seq: Number(result.citation.slice("msg#".length)), score: result.score }));
}

import { find } from "./find.ts";
import type { SearchRoom } from "./room.ts";

export interface RankRequest {
  agent: string;
  conversation?: number;
  prompt: string;
  limit: number;
  signal?: AbortSignal;
}

/** The messages of a conversation that a prompt is about, best first: for whoever puts a context together. */
export async function rankMessages(room: SearchRoom, request: RankRequest): Promise<{ seq: number; score: number }[]> {
  const { agent, conversation, prompt, limit, signal } = request;
  const answer = await find(room, prompt, {
    agent,
    conversation,
    kinds: ["message"],
    limit,
    signal,
    // Whatever is recalled is read by a model: near-duplicates and age are for it to judge.
    without: ["diversity", "recency"],
  });
  return answer.results.map((result) => ({ seq: Number(result.citation.slice("msg#".length)), score: result.score }));
}

import type { Visibility } from "../authorization/index.ts";
import { queryWords, type Store } from "../store/index.ts";
import { readEntries } from "../transcript/index.ts";
import { selectActiveSpace } from "./active-space.ts";
import { find } from "./find.ts";
import { ranking } from "./ranking.ts";
import type { SearchContext } from "./search-context.ts";

export interface MessageSearch {
  visibility: Visibility;
  prompt: string;
  limit: number;
  /** The beginning of the session that asks, see `FindOptions`. */
  boundarySeq?: number;
  signal?: AbortSignal;
}

/** A message that matches a prompt. */
export interface MessageHit {
  entry: Awaited<ReturnType<typeof readEntries>>[number];
  score: number;
}

const stopWords = new Set(
  "a an and are as at be been but by can could did do does for from had has have he her him his how i if in is it its me my of on or our she so that the their them then there they this to was we were what when where which who why will with would you your".split(
    " ",
  ),
);

/** The messages most relevant to a prompt, best first, in the visible conversations and those they were forked from. */
export async function findMessages(context: SearchContext, request: MessageSearch): Promise<MessageHit[]> {
  const { visibility, prompt, limit, boundarySeq, signal } = request;
  const { agent, conversations } = visibility;
  const active = await selectActiveSpace(context, agent);
  const scores = new Map<number, number>();
  for (const place of listPlaces(conversations)) {
    const { results } = await find(active.context, prompt, {
      agent,
      ...place,
      boundarySeq,
      kinds: ["message"],
      limit,
      signal,
      noNetwork: true,
      // The hits are read by a model, which judges age and near-duplicates itself.
      skipStages: ["diversity", "recency"],
    });
    for (const { seq = 0, score } of results) scores.set(seq, Math.max(score, scores.get(seq) ?? 0));
  }
  return toHits(context.store, agent, scores.size > 0 ? scores : await matchAnyWord(context.store, request), limit);
}

/** More conversations than this are searched together. */
const separateMax = 8;

/** A few conversations are searched one by one, with those they were forked from. */
function listPlaces(
  conversations: readonly number[] | undefined,
): { conversation?: number; conversations?: readonly number[] }[] {
  if (conversations === undefined) return [{}];
  if (conversations.length > separateMax) return [{ conversations }];
  return conversations.map((conversation) => ({ conversation }));
}

/** The fallback when nothing scores well enough: any word of the prompt, by the full-text index alone. */
async function matchAnyWord(
  store: Store,
  { visibility, prompt, limit }: MessageSearch,
): Promise<ReadonlyMap<number, number>> {
  const words = queryWords(prompt).filter((word) => !stopWords.has(word.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "")));
  if (words.length === 0) return new Map();
  const conversations = visibility.conversations && [...visibility.conversations];
  const { rankedMax } = ranking.candidates;
  const { agent } = visibility;
  const { hits } = await store.matchText({ agent, conversations, words, any: true, rankedMax, limit });
  return new Map(hits.map((hit) => [hit.seq, hit.score]));
}

async function toHits(
  store: Store,
  agent: string,
  scores: ReadonlyMap<number, number>,
  limit: number,
): Promise<MessageHit[]> {
  const entries = await readEntries(store, agent, [...scores.keys()], "reference");
  return entries
    .map((entry) => ({ entry, score: scores.get(entry.seq) ?? 0 }))
    .sort((a, b) => b.score - a.score || b.entry.seq - a.entry.seq)
    .slice(0, limit);
}

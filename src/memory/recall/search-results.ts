import type { Visibility } from "../../authorization/index.ts";
import type { FindMemories, SearchResult } from "../../search/index.ts";
import type { MemoryContext } from "../memory-context.ts";
import { findMemories, type MemoryHit } from "./find-memories.ts";

/** The memories that match a query, in the form of search results. */
export async function searchMemories(
  context: MemoryContext,
  visibility: Visibility,
  request: Parameters<FindMemories>[1],
): Promise<SearchResult[]> {
  const { query, limit, scopes, minScore = 0, since, before, signal } = request;
  const { hits } = await findMemories(context, visibility, {
    query,
    limit,
    signal,
    ...(scopes === undefined ? {} : { scopes: [...scopes] }),
  });
  return hits
    .filter(
      ({ memory, relevance }) =>
        relevance >= minScore &&
        memory.validFrom >= (since ?? memory.validFrom) &&
        memory.validFrom < (before ?? Number.POSITIVE_INFINITY),
    )
    .map(toResult);
}

function toResult({ memory, relevance, expired, outdated }: MemoryHit): SearchResult {
  const notes = [...(expired ? ["expired"] : []), ...(outdated ? ["outdated"] : [])];
  return {
    kind: "memory",
    id: memory.id,
    citation: memory.id,
    score: relevance,
    snippet: memory.abstract,
    text: memory.content,
    conversation: null,
    time: memory.validFrom,
    sessionKey: null,
    sources: [],
    ...(notes.length > 0 ? { notes } : {}),
  };
}

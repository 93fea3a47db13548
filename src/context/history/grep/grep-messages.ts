import type { Entry } from "../../../domain/index.ts";
import type { Store } from "../../../store/index.ts";
import { getEntryText, readEntries, scanMessages } from "../../../transcript/index.ts";
import type { CompiledGrep, Found, GrepMatch } from "./grep-types.ts";
import { placeOfWords, snippetAround } from "./grep-types.ts";

/** By a regular expression: reads every message, except those that the index excludes by the needle. */
export async function grepMessages(store: Store, hunt: CompiledGrep): Promise<Found> {
  const matches: GrepMatch[] = [];
  let searched = 0;
  for await (const page of scanMessages(store, hunt)) {
    hunt.signal?.throwIfAborted();
    for (const { seq, conversation, time, kind, text } of page) {
      searched += 1;
      const place = hunt.find(text);
      if (!place) continue;
      if (matches.length === hunt.limit) return { matches, searched, more: true };
      const snippet = snippetAround(text, place.from, place.to);
      matches.push({ kind: "message", citation: `msg#${seq}`, conversation, time, role: kind, snippet, score: 1 });
    }
  }
  return { matches, searched, more: false };
}

/** By words, from the full-text index. */
export async function matchMessages(store: Store, hunt: CompiledGrep): Promise<Found> {
  const { agent, words, conversations, since, before, limit } = hunt;
  const order = hunt.sort === "recency" ? "recency" : "rank";
  const hits = await store.matchText({ agent, conversations, words, since, before, order, limit: limit + 1 });
  const scores = new Map(hits.slice(0, limit).map((hit) => [hit.seq, hit.score]));
  const plain = words.map((word) => word.replaceAll(" ", ""));
  const entries = await readEntries(store, agent, [...scores.keys()]);
  const matches = entries.map((entry) => {
    const text = getEntryText(entry);
    const place = placeOfWords(text, plain);
    return toMatch(entry, snippetAround(text, place.from, place.to), scores.get(entry.seq) ?? 0);
  });
  return { matches, searched: hits.length, more: hits.length > limit };
}

function toMatch(entry: Entry & { conversation: number }, snippet: string, score: number): GrepMatch {
  const role = "message" in entry ? entry.message.role : entry.type;
  const { conversation, seq, time } = entry;
  return { kind: "message", citation: `msg#${seq}`, conversation, time, role, snippet, score };
}

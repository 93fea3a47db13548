import { type FindPassages, type Passage, passagesFor } from "../context/index.ts";
import { readEntries } from "../transcript/index.ts";
import type { EngineHost } from "./host.ts";
import type { Search } from "./search.ts";

/** What was said about a question, by its words and its meaning; without a model, by its words. A fork sees what it grew from. */
export async function findPassages(
  host: EngineHost,
  search: Search,
  request: Parameters<FindPassages>[0],
): Promise<Passage[]> {
  const { agent, conversations, prompt, limit } = request;
  const scores = new Map<number, number>();
  for (const conversation of conversations ?? [undefined]) {
    for (const { seq, score } of await search.rank({ agent, conversation, prompt, limit })) {
      scores.set(seq, Math.max(score, scores.get(seq) ?? 0));
    }
  }
  if (scores.size === 0) return passagesFor(host.store, request);
  const entries = await readEntries(host.store, agent, [...scores.keys()], "reference");
  return entries
    .map((entry) => ({ entry, score: scores.get(entry.seq) ?? 0 }))
    .sort((a, b) => b.score - a.score || b.entry.seq - a.entry.seq)
    .slice(0, limit);
}

import type { Varve } from "../../index.ts";
import { type Conversation, loadDatasets, toMessages } from "../datasets.ts";
import { round } from "../result.ts";

export interface CoverageFigures {
  questions: number;
  /** The share of questions of which an evidence turn is cited by one of the first ten memories. */
  covered: number;
  memoriesPer100Turns: number;
}

const recalled = 10;

/** Extracts memories from conversations without a model, and counts the questions whose evidence they cite. */
export async function benchCoverage(
  varve: Varve,
  {
    data,
    only,
    onProgress,
  }: { data: string; only?: readonly string[]; onProgress(name: string, done: number, total: number): void },
): Promise<Record<string, CoverageFigures>> {
  const figures: Record<string, CoverageFigures> = {};
  for (const [name, conversations] of loadDatasets(data, only)) {
    const counts = { questions: 0, covered: 0, turns: 0, memories: 0 };
    for (const [index, conversation] of conversations.entries()) {
      onProgress(name, index, conversations.length);
      await coverConversation(
        varve,
        `${name}-${index}`.toLowerCase().replaceAll(/[^a-z0-9-]/g, "-"),
        conversation,
        counts,
      );
    }
    figures[name] = {
      questions: counts.questions,
      covered: round(counts.questions === 0 ? 0 : counts.covered / counts.questions),
      memoriesPer100Turns: round(counts.turns === 0 ? 0 : (100 * counts.memories) / counts.turns),
    };
  }
  return figures;
}

async function coverConversation(
  varve: Varve,
  agent: string,
  conversation: Conversation,
  counts: { questions: number; covered: number; turns: number; memories: number },
): Promise<void> {
  const session = await varve.sessions.resolve({ key: `agent:${agent}:bench:direct:one` });
  const messages = toMessages(conversation);
  await varve.context.ingest(session, messages);
  while ((await varve.memory.extract(session)).length > 0);
  await varve.search.index();
  const seqs = new Map<string, number>();
  const { entries } = await varve.transcripts.read(session, { limit: messages.length + 10 });
  for (const entry of entries) seqs.set(entry.id, entry.seq);
  counts.turns += conversation.turns.length;
  counts.memories += (await varve.memory.stats({ agent, scopes: [`agent:${agent}`] })).current;
  for (const { question, evidence } of conversation.questions) {
    const wanted = new Set(evidence.flatMap((id) => seqs.get(id) ?? []));
    if (wanted.size === 0) continue;
    counts.questions += 1;
    const { hits } = await varve.memory.recall({ agent, query: question, limit: recalled });
    const isCited = hits.some(({ memory }) => memory.sources.some((source) => wanted.has(source.seq)));
    if (isCited) counts.covered += 1;
  }
}

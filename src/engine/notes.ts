import type { RecalledNote } from "../memory/index.ts";
import { formatChunkCitation } from "../search/index.ts";
import type { EngineHost, NotesRequest } from "./host.ts";
import type { Search } from "./search.ts";

/** What is less than this share of the best as good an answer is not put before anybody unasked. */
const leastShare = 0.6;

/** The parts of notes and files that a prompt is about, whole and best first; none where that is not sure. */
export async function findNotes(
  { store }: EngineHost,
  search: Search,
  { agent, prompt, limit }: NotesRequest,
): Promise<RecalledNote[]> {
  const chunks = store.db.selectFrom("corpus_chunks").where("agent", "=", agent);
  if (limit === 0 || !(await chunks.select("path").limit(1).executeTakeFirst())) return [];
  const { confidence, results } = await search.find(prompt, { agent, kinds: ["chunk"], noNetwork: true, limit });
  const [best] = results;
  if (!best || confidence !== "strong") return [];
  const good = results.filter((result) => result.score >= leastShare * best.score);
  const paths = [...new Set(good.map(({ citation }) => citation.slice(0, citation.lastIndexOf("#"))))];
  const rows = await chunks.selectAll().where("path", "in", paths).execute();
  const byCitation = new Map(
    rows.map((row) => [formatChunkCitation(row.path, row.start_line, row.end_line, row.part), row] as const),
  );
  return good.flatMap(({ citation }) => {
    const row = byCitation.get(citation);
    return row ? [{ citation, hash: row.hash, time: row.time, text: row.text }] : [];
  });
}

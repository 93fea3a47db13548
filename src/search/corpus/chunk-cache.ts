import type { Store } from "../../store/index.ts";
import { type CachedDoc, createDocumentLru } from "../documents.ts";
import { countTerms } from "../text/count-terms.ts";
import { toSignedBytes } from "../vectors/math.ts";
import { parseDateInPath } from "./sync.ts";

const pageRows = 500;
/** The maximum number of chunks in memory. Older ones are not searched, and the answer says so. */
const chunksMax = 20_000;
/** The average length of chunks, in tokens, for BM25: comparing them with one-line messages would penalise them all. */
const usualTokens = 400;
/** Terms are counted for this long before control returns to the event loop. */
const sliceMs = 6;

interface CachedChunks {
  /** By citation, content hash and time, so that a changed chunk gets a new document. */
  docs: Map<string, CachedDoc>;
  byHash: Map<string, CachedDoc[]>;
  mark: string;
  cut: boolean;
}

/** The chunks of an agent's corpus in memory, read again when they or their vectors change. */
export class ChunkCache {
  private readonly store: Store;
  private readonly agents = createDocumentLru<CachedChunks>();

  constructor(store: Store) {
    this.store = store;
  }

  async read(agent: string, space: number | undefined): Promise<{ docs: CachedDoc[]; cut: boolean }> {
    const mark = await this.readMark(agent, space);
    let chunks = this.agents.get(agent);
    if (chunks?.mark !== mark) {
      chunks = await this.load(agent, space, mark, chunks);
      this.agents.set(agent, chunks);
    }
    return { docs: [...chunks.docs.values()], cut: chunks.cut };
  }

  private async readMark(agent: string, space: number | undefined): Promise<string> {
    const { db } = this.store;
    const state = await db.selectFrom("corpus_states").select("revision").where("agent", "=", agent).executeTakeFirst();
    if (!state || space === undefined) return `${state?.revision ?? 0}`;
    const vectors = await db
      .selectFrom("document_vectors")
      .select((eb) => eb.fn.countAll<number>().as("count"))
      .where("agent", "=", agent)
      .where("space", "=", space)
      .where("kind", "=", "chunk")
      .executeTakeFirst();
    return `${state.revision} ${space} ${vectors?.count ?? 0}`;
  }

  private async load(
    agent: string,
    space: number | undefined,
    mark: string,
    known?: CachedChunks,
  ): Promise<CachedChunks> {
    const chunks: CachedChunks = { docs: new Map(), byHash: new Map(), mark, cut: false };
    let turn = performance.now();
    for (let offset = 0; !chunks.cut; offset += pageRows) {
      const rows = await this.store.db
        .selectFrom("corpus_chunks")
        .selectAll()
        .where("agent", "=", agent)
        .orderBy("time", "desc")
        .orderBy("path")
        .orderBy("start_line")
        .orderBy("end_line")
        .orderBy("part")
        .limit(pageRows)
        .offset(offset)
        .execute();
      for (const row of rows) {
        const citation = formatChunkCitation(row.path, row.start_line, row.end_line, row.part);
        const key = `${citation}\n${row.hash}\n${row.time}`;
        const cached = known?.docs.get(key) ?? toCachedDoc(row, citation);
        chunks.docs.set(key, cached);
        chunks.byHash.set(row.hash, [...(chunks.byHash.get(row.hash) ?? []), cached]);
        if (performance.now() - turn <= sliceMs) continue;
        await new Promise((resolve) => setImmediate(resolve));
        turn = performance.now();
      }
      chunks.cut = chunks.docs.size >= chunksMax;
      if (rows.length < pageRows) break;
    }
    if (space !== undefined && chunks.docs.size > 0) await this.addVectors(agent, space, chunks);
    return chunks;
  }

  private async addVectors(agent: string, space: number, chunks: CachedChunks): Promise<void> {
    for (let last = ""; ; ) {
      const rows = await this.store.db
        .selectFrom("document_vectors")
        .select(["id", "vector", "states"])
        .where("agent", "=", agent)
        .where("space", "=", space)
        .where("kind", "=", "chunk")
        .where("id", ">", last)
        .orderBy("id")
        .limit(pageRows)
        .execute();
      for (const row of rows) {
        for (const cached of chunks.byHash.get(row.id) ?? []) {
          cached.vector = toSignedBytes(row.vector);
          cached.states = toSignedBytes(row.states);
        }
      }
      if (rows.length < pageRows) return;
      last = rows.at(-1)?.id ?? last;
    }
  }
}

/** The citation of lines of a file: `memory/plan.md#L3-L9`, with a suffix such as `.2` for a part of one long line. */
export function formatChunkCitation(path: string, start: number, end: number, part = 0): string {
  return `${path}#L${start}-L${end}${part > 1 ? `.${part}` : ""}`;
}

function toCachedDoc(
  row: { path: string; text: string; heading: string; tokens: number; time: number },
  citation: string,
): CachedDoc {
  const { path, text, heading, tokens, time } = row;
  return {
    doc: {
      key: citation,
      kind: "chunk",
      id: citation,
      conversation: null,
      branch: 0,
      time,
      role: "chunk",
      speaker: "chunk",
      text,
      tokens,
      averageTokens: usualTokens,
      dated: parseDateInPath(path) !== undefined,
      // The headings and the file name count as words of the chunk.
      terms: countTerms(text, `${heading} ${path}`),
    },
  };
}

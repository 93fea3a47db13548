import { isAgentOpen, runAsEngine } from "../authorization/index.ts";
import type { Store } from "../store/index.ts";
import { estimateTokens } from "../text/index.ts";
import { ChunkCache } from "./corpus/chunk-cache.ts";
import { type CachedDoc, createDocumentLru, type Doc } from "./documents.ts";
import { countTerms } from "./text/count-terms.ts";
import type { ResultKind } from "./types.ts";
import { toSignedBytes } from "./vectors/math.ts";

const pageRows = 500;
/** The maximum number of summaries and of files in memory. Older ones are not searched, and the answer says so. */
const cachedMax = 20_000;

interface CachedKind {
  docs: Map<string, CachedDoc>;
  /** Detects changes: the number of rows and of vectors, and the time of the latest row. */
  mark: string;
  cut: boolean;
}

/** Summaries, files and chunks in memory, read again when their tables change. */
export class DocumentCache {
  private readonly store: Store;
  private readonly chunks: ChunkCache;
  private readonly kinds = createDocumentLru<CachedKind>();

  constructor(store: Store) {
    this.store = store;
    this.chunks = new ChunkCache(store);
  }

  /** Reads the documents of an agent, for requests of all its principals. */
  read(
    agent: string,
    kinds: readonly ResultKind[],
    space: number | undefined,
  ): Promise<{ docs: CachedDoc[]; cut: string[] }> {
    if (!isAgentOpen(agent)) return Promise.resolve({ docs: [], cut: [] });
    return runAsEngine(() => this.readAll(agent, kinds, space));
  }

  private async readAll(
    agent: string,
    kinds: readonly ResultKind[],
    space: number | undefined,
  ): Promise<{ docs: CachedDoc[]; cut: string[] }> {
    const docs: CachedDoc[] = [];
    const cut = new Set<string>();
    for (const kind of kinds) {
      if (kind === "message" || kind === "memory") continue;
      if (kind === "chunk") {
        const chunks = await this.chunks.read(agent, space);
        for (const one of chunks.docs) docs.push(one);
        if (chunks.cut) cut.add("only the newest files of the corpus were searched");
        continue;
      }
      const loaded = await this.load(agent, kind, space);
      for (const one of loaded.docs.values()) docs.push(one);
      if (loaded.cut) cut.add("only the newest summaries and files were searched");
    }
    return { docs, cut: [...cut] };
  }

  private async load(agent: string, kind: "summary" | "file", space: number | undefined): Promise<CachedKind> {
    const mark = await this.readMark(agent, kind, space);
    const name = `${agent}\n${kind}`;
    const known = this.kinds.get(name);
    if (known?.mark === mark) return known;
    const docs = new Map<string, CachedDoc>();
    let cut = false;
    for await (const page of kind === "summary" ? this.readSummaries(agent) : this.readFiles(agent)) {
      for (const doc of page) {
        const before = known?.docs.get(doc.key);
        docs.set(doc.key, before ?? { doc });
      }
      cut = docs.size >= cachedMax;
      if (cut) break;
    }
    if (space !== undefined) await this.addVectors(agent, kind, space, docs);
    const loaded = { docs, mark, cut };
    this.kinds.set(name, loaded);
    return loaded;
  }

  private async readMark(agent: string, kind: "summary" | "file", space: number | undefined): Promise<string> {
    const table = kind === "summary" ? "summaries" : "files";
    const row = await this.store.db
      .selectFrom(table)
      .select((eb) => [
        eb.fn.countAll<number>().as("count"),
        eb.fn.max("created_at").as("latest"),
        eb
          .selectFrom("document_vectors as v")
          .select((of) => of.fn.countAll<number>().as("vectors"))
          .where("v.agent", "=", agent)
          .where("v.space", "=", space ?? -1)
          .where("v.kind", "=", kind)
          .as("vectors"),
      ])
      .where("agent", "=", agent)
      .executeTakeFirst();
    return `${row?.count ?? 0} ${row?.latest ?? 0} ${row?.vectors ?? 0}`;
  }

  private async *readSummaries(agent: string): AsyncGenerator<Doc[]> {
    for (let offset = 0; ; offset += pageRows) {
      const rows = await this.store.db
        .selectFrom("summaries")
        .select(["id", "conversation", "content", "tokens", "latest_at"])
        .where("agent", "=", agent)
        .orderBy("created_at", "desc")
        .orderBy("id")
        .limit(pageRows)
        .offset(offset)
        .execute();
      if (rows.length === 0) return;
      yield rows.map((row) => toDoc("summary", row.id, row.conversation, row.latest_at, row.content, row.tokens));
    }
  }

  private async *readFiles(agent: string): AsyncGenerator<Doc[]> {
    for (let offset = 0; ; offset += pageRows) {
      const rows = await this.store.db
        .selectFrom("files")
        .select(["id", "name", "summary", "created_at"])
        .where("agent", "=", agent)
        .orderBy("created_at", "desc")
        .orderBy("id")
        .limit(pageRows)
        .offset(offset)
        .execute();
      if (rows.length === 0) return;
      yield rows.map((row) => {
        // Only the name and summary of a file are searchable, not its content.
        const text = [row.name ?? "", row.summary].filter(Boolean).join("\n");
        return toDoc("file", row.id, null, row.created_at, text, estimateTokens(text));
      });
    }
  }

  private async addVectors(
    agent: string,
    kind: string,
    space: number,
    docs: ReadonlyMap<string, CachedDoc>,
  ): Promise<void> {
    for (let last = ""; ; ) {
      const rows = await this.store.db
        .selectFrom("document_vectors")
        .select(["id", "vector", "states"])
        .where("agent", "=", agent)
        .where("space", "=", space)
        .where("kind", "=", kind)
        .where("id", ">", last)
        .orderBy("id")
        .limit(pageRows)
        .execute();
      for (const row of rows) {
        const cached = docs.get(row.id);
        if (!cached) continue;
        cached.vector = toSignedBytes(row.vector);
        cached.states = toSignedBytes(row.states);
      }
      if (rows.length < pageRows) return;
      last = rows.at(-1)?.id ?? last;
    }
  }
}

function toDoc(
  kind: "summary" | "file",
  id: string,
  conversation: number | null,
  time: number,
  text: string,
  tokens: number,
): Doc {
  const base = { key: id, kind, id, conversation, branch: 0, time, role: kind, speaker: kind, text, tokens };
  return { ...base, terms: countTerms(text, "") };
}

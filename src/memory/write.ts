import { type Clock, newId, type Random } from "../domain/index.ts";
import { toBytes } from "../models/index.ts";
import type { Store } from "../store/index.ts";
import { indexWords, type MemorySourceTable, type NewMemoryRows, type StoreTransaction } from "../store/index.ts";
import type { ContextLabel, Levels, Memory, MemoryDraft, Relation, Source, Tier } from "./memory.ts";

/** The agent, scope and lineage of a new version. */
export interface Placement {
  agent: string;
  scope: string;
  /** The version that it supersedes. */
  after?: Memory;
  /** The memory that it is a version of without superseding it; see `until`. */
  lineage?: Memory;
  /** For a version of the past: when it stopped being valid, and the id of its successor. */
  until?: { time: number; by: string | null };
  vector?: { space: number; vector: ArrayLike<number> };
  /** For a doubtful memory: until when it waits for a confirmation. */
  tentativeUntil?: number;
}

const startTier: Tier = "working";
/** The share by which a confirmation reduces the doubt, and a contradiction the confidence. */
const confirmStep = 0.2;
const contradictStep = 0.2;

/** Writes a memory, or a new version of one. The caller closes the previous version. */
export async function insertMemory(tx: StoreTransaction, draft: MemoryDraft, place: Placement): Promise<string> {
  const lineage = place.lineage ?? place.after;
  const rows = toMemoryRows(draft, place, tx, lineage ? await readNextVersion(tx, lineage.root) : 1);
  await tx.insertMemory(rows);
  return rows.row.id;
}

/** The rows of a memory; the store assigns its number. */
export function toMemoryRows(
  draft: MemoryDraft,
  place: Placement,
  { clock, random }: { clock: Clock; random: Random },
  version = 1,
): NewMemoryRows {
  const { after, lineage = place.after, until, vector } = place;
  const id = `mem_${newId(clock, random)}`;
  const row: NewMemoryRows["row"] = {
    scope: place.scope,
    id,
    root: lineage?.root ?? id,
    version,
    agent: place.agent,
    category: draft.category,
    abstract: draft.abstract,
    overview: draft.overview,
    content: draft.content,
    importance: draft.importance,
    confidence: draft.confidence,
    tier: after?.tier ?? startTier,
    temporal_type: draft.temporalType,
    created_at: clock.now(),
    last_accessed_at: after?.lastAccessedAt ?? null,
    access_count: after?.accessCount ?? 0,
    valid_from: draft.validFrom,
    invalidated_at: until?.time ?? null,
    expires_at: draft.expiresAt ?? null,
    forgotten_at: null,
    supersedes: after?.id ?? null,
    superseded_by: until?.by ?? null,
    fact_key: draft.factKey ?? after?.factKey ?? null,
    trust: draft.trust,
    extractor: draft.extractor,
    fiction: draft.fiction ? 1 : 0,
    tentative_until: place.tentativeUntil ?? null,
  };
  return {
    row,
    sources: toSourceRows(id, draft.sources, 0),
    support: [{ memory: id, label: draft.label, confirmed: 1, contradicted: 0 }],
    words: makeIndexedText(draft),
    ...(vector ? { vector: { space: vector.space, vector: toVectorBytes(vector.vector) } } : {}),
  };
}

async function readNextVersion(tx: StoreTransaction, root: string): Promise<number> {
  const row = await tx.db
    .selectFrom("memories")
    .select((eb) => eb.fn.max("version").as("version"))
    .where("root", "=", root)
    .executeTakeFirst();
  return Number(row?.version ?? 0) + 1;
}

function makeIndexedText({ abstract, overview, content }: Levels): string {
  return indexWords([...new Set([abstract, overview, content])].join("\n"));
}

/** Marks a version as valid until a time; it stays readable. */
export async function closeVersion(tx: StoreTransaction, id: string, time: number, by: string): Promise<void> {
  await tx.db
    .updateTable("memories")
    .set({ invalidated_at: time, superseded_by: by })
    .where("id", "=", id)
    .where("invalidated_at", "is", null)
    .execute();
}

export async function addSources(
  tx: StoreTransaction,
  memory: string,
  sources: readonly Source[],
  from: number,
): Promise<void> {
  if (sources.length === 0) return;
  await tx.db
    .insertInto("memory_sources")
    .values(toSourceRows(memory, sources, from))
    .execute();
}

function toSourceRows(memory: string, sources: readonly Source[], from: number): MemorySourceTable[] {
  return sources.map((source, index) => ({
    memory,
    position: from + index,
    agent: source.agent,
    session_id: source.sessionId,
    seq: source.seq,
    start_at: source.start,
    end_at: source.end,
  }));
}

/** Joins two lists of evidence without duplicates. */
export function joinSources(first: readonly Source[], second: readonly Source[]): Source[] {
  const name = ({ agent, seq, start, end }: Source) => `${agent} ${seq} ${start} ${end}`;
  return [...new Map([...first, ...second].map((source) => [name(source), source])).values()];
}

/** Counts a confirmation (1) or contradiction (-1) of a memory under a label. */
export async function countSupport(
  tx: StoreTransaction,
  memory: string,
  label: ContextLabel,
  by: 1 | -1,
): Promise<void> {
  const [confirmed, contradicted] = by === 1 ? [1, 0] : [0, 1];
  await tx.db
    .insertInto("memory_support")
    .values({ memory, label, confirmed, contradicted })
    .onConflict((conflict) =>
      conflict.columns(["memory", "label"]).doUpdateSet((eb) => ({
        confirmed: eb("memory_support.confirmed", "+", confirmed),
        contradicted: eb("memory_support.contradicted", "+", contradicted),
      })),
    )
    .execute();
}

/** Ends the trial of a tentative memory: it is believed like any other. */
export async function confirmMemory(tx: StoreTransaction, id: string): Promise<void> {
  await tx.db.updateTable("memories").set({ tentative_until: null }).where("id", "=", id).execute();
  await tx.db
    .updateTable("memory_reviews")
    .set({ state: "accepted", decided_at: tx.clock.now() })
    .where("memory", "=", id)
    .where("state", "=", "held")
    .execute();
}

export async function setConfidence(tx: StoreTransaction, id: string, confidence: number): Promise<void> {
  await tx.db.updateTable("memories").set({ confidence }).where("id", "=", id).execute();
}

export function raiseConfidence(confidence: number): number {
  return confidence + (1 - confidence) * confirmStep;
}

export function lowerConfidence(confidence: number): number {
  return confidence * (1 - contradictStep);
}

export async function addRelation(
  tx: StoreTransaction,
  memory: string,
  other: string,
  { kind, label }: Pick<Relation, "kind" | "label">,
  now: number,
): Promise<void> {
  await tx.db
    .insertInto("memory_relations")
    .values({ memory, other, kind, label, created_at: now })
    .onConflict((conflict) => conflict.columns(["memory", "other", "kind", "label"]).doNothing())
    .execute();
}

export async function countAccess(tx: StoreTransaction, id: string, times: number, lastAt: number): Promise<void> {
  await tx.db
    .updateTable("memories")
    .set((eb) => ({ access_count: eb("access_count", "+", times), last_accessed_at: lastAt }))
    .where("id", "=", id)
    .execute();
}

function toVectorBytes(vector: ArrayLike<number>): Uint8Array {
  const bytes = toBytes(Float32Array.from(vector));
  return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

const chunk = 500;

/** Rebuilds the text index of memories from their rows. */
export async function rebuildMemoryText(store: Store): Promise<{ memories: number }> {
  let memories = 0;
  for (let last = 0; ; ) {
    const rows = await store.db
      .selectFrom("memories")
      .select(["num", "scope", "abstract", "overview", "content"])
      .where("num", ">", last)
      .orderBy("num")
      .limit(chunk)
      .execute();
    if (rows.length === 0) return { memories };
    await store.transaction(async (tx) => {
      for (const row of rows) await tx.indexMemory({ scope: row.scope, num: row.num, words: makeIndexedText(row) });
    });
    memories += rows.length;
    last = rows.at(-1)?.num ?? last;
  }
}

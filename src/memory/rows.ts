import type { Db, MemoryTable, Tx } from "../store/index.ts";
import type { Category, ContextLabel, Memory, Relation, Source, Support, TemporalType, Tier, Trust } from "./memory.ts";

const idsAtOnce = 500;

/** Converts rows to memories. Evidence, relations and support are read for all rows at once. */
export async function loadMemories(db: Db | Tx, rows: readonly MemoryTable[]): Promise<Memory[]> {
  const sources = new Map<string, Source[]>();
  const relations = new Map<string, Relation[]>();
  const support = new Map<string, Memory["support"]>();
  for (let from = 0; from < rows.length; from += idsAtOnce) {
    const ids = rows.slice(from, from + idsAtOnce).map((row) => row.id);
    const found = await db
      .selectFrom("memory_sources")
      .selectAll()
      .where("memory", "in", ids)
      .orderBy("memory")
      .orderBy("position")
      .execute();
    for (const row of found) {
      const source = {
        agent: row.agent,
        sessionId: row.session_id,
        seq: row.seq,
        start: row.start_at,
        end: row.end_at,
      };
      sources.set(row.memory, [...(sources.get(row.memory) ?? []), source]);
    }
    const related = await db.selectFrom("memory_relations").selectAll().where("memory", "in", ids).execute();
    for (const row of related) {
      const relation = { memory: row.other, kind: row.kind as Relation["kind"], label: row.label as ContextLabel };
      relations.set(row.memory, [...(relations.get(row.memory) ?? []), relation]);
    }
    const supported = await db.selectFrom("memory_support").selectAll().where("memory", "in", ids).execute();
    for (const row of supported) {
      const one: Support = { confirmed: row.confirmed, contradicted: row.contradicted };
      support.set(row.memory, { ...support.get(row.memory), [row.label as ContextLabel]: one });
    }
  }
  return rows.map((row) => ({
    ...memoryFromRow(row),
    sources: sources.get(row.id) ?? [],
    relations: relations.get(row.id) ?? [],
    support: support.get(row.id) ?? {},
  }));
}

/** A memory without its evidence, relations and support. */
export function memoryFromRow(row: Omit<MemoryTable, "num">): Omit<Memory, "sources" | "relations" | "support"> {
  const optional = {
    lastAccessedAt: row.last_accessed_at,
    invalidatedAt: row.invalidated_at,
    expiresAt: row.expires_at,
    forgottenAt: row.forgotten_at,
    supersedes: row.supersedes,
    supersededBy: row.superseded_by,
    factKey: row.fact_key,
    tentativeUntil: row.tentative_until,
  };
  const known = Object.fromEntries(Object.entries(optional).filter(([, value]) => value !== null));
  return {
    id: row.id,
    root: row.root,
    version: row.version,
    agent: row.agent,
    scope: row.scope,
    category: row.category as Category,
    abstract: row.abstract,
    overview: row.overview,
    content: row.content,
    importance: row.importance,
    confidence: row.confidence,
    tier: row.tier as Tier,
    temporalType: row.temporal_type as TemporalType,
    createdAt: row.created_at,
    accessCount: row.access_count,
    validFrom: row.valid_from,
    trust: row.trust as Trust,
    extractor: row.extractor,
    fiction: row.fiction === 1,
    ...known,
  };
}

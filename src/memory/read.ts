import {
  canSeeConversation,
  canUseAgent,
  narrowScopes,
  type Principal,
  type Visibility,
  visibleScopes,
} from "../authorization/index.ts";
import { VarveError } from "../domain/index.ts";
import type { Db, Store, Tx } from "../store/index.ts";
import { getEntryText, readEntries } from "../transcript/index.ts";
import type { Category, Memory, Source } from "./memory.ts";
import { loadMemories } from "./rows.ts";

/** Selects memories. The visible scopes are always part of the database query. */
export interface MemoryFilter {
  scopes?: readonly string[];
  category?: Category;
  /** Memories that were valid at this time; default: now. */
  asOf?: number;
  /** Include versions that are no longer valid. */
  includeHistory?: boolean;
}

export interface MemoryPage {
  memories: Memory[];
  total: number;
}

/** Lists memories, the newest first. */
export async function listMemories(
  store: Store,
  visibility: Visibility,
  filter: MemoryFilter & { limit: number; offset: number },
): Promise<MemoryPage> {
  const scopes = narrowScopes(visibility, filter.scopes);
  if (scopes?.length === 0) return { memories: [], total: 0 };
  const query = selectMemories(store.db, scopes, filter, store.clock.now());
  const count = await query.select((eb) => eb.fn.countAll<number>().as("n")).executeTakeFirst();
  const rows = await query
    .selectAll()
    .orderBy("created_at", "desc")
    .orderBy("num", "desc")
    .limit(filter.limit)
    .offset(filter.offset)
    .execute();
  return { memories: await loadMemories(store.db, rows), total: Number(count?.n ?? 0) };
}

export function selectMemories(db: Db | Tx, scopes: readonly string[] | undefined, filter: MemoryFilter, now: number) {
  const at = filter.asOf ?? now;
  let query = db.selectFrom("memories");
  if (scopes !== undefined) query = query.where("scope", "in", scopes);
  if (filter.category !== undefined) query = query.where("category", "=", filter.category);
  if (filter.includeHistory) return filter.asOf === undefined ? query : query.where("valid_from", "<=", at);
  return query
    .where("valid_from", "<=", at)
    .where((where) => where.or([where("invalidated_at", "is", null), where("invalidated_at", ">", at)]))
    .where((where) => where.or([where("tentative_until", "is", null), where("tentative_until", ">", now)]));
}

/** The memories that can be opened by their id. */
function selectVisible(db: Db | Tx, visibility: Visibility) {
  const scopes = visibleScopes(visibility);
  const query = db.selectFrom("memories");
  if (scopes === undefined) return query;
  return query.where(({ eb, and, or }) =>
    or([
      ...(scopes.length === 0 ? [] : [eb("scope", "in", scopes)]),
      ...(visibility.mayNameScopes
        ? [and([eb("scope", "not like", "agent:%"), eb("scope", "not like", "reflection:%")])]
        : []),
    ]),
  );
}

/** Memories by id, in the order of the ids. Memories that are not visible are left out. */
export async function readMemories(db: Db | Tx, visibility: Visibility, ids: readonly string[]): Promise<Memory[]> {
  if (ids.length === 0) return [];
  const query = selectVisible(db, visibility).selectAll().where("id", "in", ids);
  const found = new Map((await loadMemories(db, await query.execute())).map((memory) => [memory.id, memory]));
  return ids.flatMap((id) => found.get(id) ?? []);
}

/** One memory. One that is not visible gives the same error as one that does not exist. */
export async function getMemory(db: Db | Tx, visibility: Visibility, id: string): Promise<Memory> {
  const [memory] = await readMemories(db, visibility, [id]);
  if (memory) return memory;
  throw new VarveError("NOT_FOUND", `There is no memory ${JSON.stringify(id.slice(0, 100))}.`, {
    remedy: "Send an id (mem_…) from memory_recall or memory_list.",
  });
}

/** All versions of a memory, the oldest first, by the id of any of them. */
export async function readHistory(db: Db | Tx, visibility: Visibility, id: string): Promise<Memory[]> {
  const { root } = await getMemory(db, visibility, id);
  const query = selectVisible(db, visibility).selectAll().where("root", "=", root);
  return loadMemories(db, await query.orderBy("valid_from").orderBy("version").execute());
}

/** A passage that supports a memory. */
export interface Evidence {
  citation: string;
  sessionId: string;
  time: number;
  role: string;
  /** The part of the message that states the memory. */
  quote: string;
  /** The whole text of the message. */
  text: string;
}

export interface OpenedEvidence {
  evidence: Evidence[];
  /** Messages that were deleted. */
  missing: string[];
  /** Messages of conversations that the reader may not see. */
  withheld: string[];
}

/** Reads the evidence of a memory from the log, as far as the reader may see the conversations it is in. */
export async function readEvidence(
  store: Store,
  memory: Pick<Memory, "sources">,
  reader: Principal,
): Promise<OpenedEvidence> {
  const opened: OpenedEvidence = { evidence: [], missing: [], withheld: [] };
  for (const source of memory.sources) {
    const found = canUseAgent(reader, source.agent) ? await openSource(store, source, reader) : "withheld";
    if (typeof found === "object") opened.evidence.push(found);
    else opened[found].push(`msg#${source.seq}`);
  }
  return opened;
}

async function openSource(store: Store, source: Source, reader: Principal): Promise<Evidence | "missing" | "withheld"> {
  const [entry] = await readEntries(store, source.agent, [source.seq]);
  if (!entry) return "missing";
  if (!canSeeConversation(reader, entry.conversation)) return "withheld";
  const text = getEntryText(entry);
  return {
    citation: `msg#${source.seq}`,
    sessionId: source.sessionId,
    time: entry.time,
    role: entry.type === "message" ? entry.message.role : entry.type,
    quote: text.slice(source.start, source.end),
    text,
  };
}

export interface MemoryStats {
  total: number;
  current: number;
  history: number;
  forgotten: number;
  held: number;
  byScope: Record<string, number>;
  byCategory: Record<string, number>;
  byTier: Record<string, number>;
  byExtractor: Record<string, number>;
}

const groupsMax = 100_000;

/** Counts memories. `limit` and `offset` select the groups of each spread, in the order of their names. */
export async function readStats(
  store: Store,
  visibility: Visibility,
  filter: Pick<MemoryFilter, "scopes" | "category"> & { limit?: number; offset?: number },
): Promise<MemoryStats> {
  const scopes = narrowScopes(visibility, filter.scopes);
  const empty = { total: 0, current: 0, history: 0, forgotten: 0, held: 0 };
  if (scopes?.length === 0) return { ...empty, byScope: {}, byCategory: {}, byTier: {}, byExtractor: {} };
  const all = selectMemories(store.db, scopes, { ...filter, includeHistory: true }, store.clock.now());
  const believed = selectMemories(store.db, scopes, filter, store.clock.now());
  const count = async (query: typeof all) =>
    Number((await query.select((eb) => eb.fn.countAll<number>().as("n")).executeTakeFirst())?.n ?? 0);
  const by = async (column: "scope" | "category" | "tier" | "extractor") => {
    const rows = await believed
      .select((eb) => [column, eb.fn.countAll<number>().as("n")])
      .groupBy(column)
      .orderBy(column)
      .limit(filter.limit ?? groupsMax)
      .offset(filter.offset ?? 0)
      .execute();
    return Object.fromEntries(rows.map((row) => [row[column], Number(row.n)]));
  };
  const [total, current] = [await count(all), await count(believed)];
  return {
    total,
    current,
    history: total - current,
    forgotten: await count(all.where("forgotten_at", "is not", null)),
    held: await count(believed.where("tentative_until", "is not", null)),
    byScope: await by("scope"),
    byCategory: await by("category"),
    byTier: await by("tier"),
    byExtractor: await by("extractor"),
  };
}

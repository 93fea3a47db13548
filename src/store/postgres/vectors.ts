import { type RawBuilder, sql } from "kysely";
import type {
  ConversationSpan,
  DatabaseVectors,
  NearestEntriesQuery,
  NearestEntry,
  NearestMemoriesQuery,
} from "../port.ts";
import type { Db } from "../schema.ts";
import { indexedMin, maintainVectors } from "./maintain-vectors.ts";
import { listAgentIndexes, nameAgentIndex } from "./vector-schema.ts";

/**
 * How many vectors a search keeps while it walks through an index; recall grows with it, and so does its duration. With 400
 * some walks through a million vectors ended far from everything near.
 */
const searchBreadth = 800;
/** The most that pgvector allows. */
const searchBreadthMax = 1_000;
/** A walk that finds too few vectors in the wanted conversations goes on up to this many. */
const walkedMax = 40_000;
/** Comparing a vector by itself costs this share of visiting one in an index. */
const exactCostShare = 1 / 20;
/**
 * The largest number of a stored vector. Whole numbers are written faster than fractions, and half floats hold this one, but
 * are coarser than whole numbers for all that are not small.
 */
const scaledMax = 12_700;
/** How long the list of indexes may be old. */
const indexListMs = 30_000;

/**
 * Vectors in columns of pgvector. A cosine does not depend on length, so vectors made of floats can be compared with those that
 * were converted from signed bytes.
 */
export function createDatabaseVectors(db: Db, options: { isOwner: boolean; now(): number }): DatabaseVectors {
  let known: { names: ReadonlySet<string>; at: number } | undefined;
  const hasIndex = async (name: string): Promise<boolean> => {
    if (known === undefined || options.now() - known.at > indexListMs) {
      const indexes = await listAgentIndexes(db);
      known = { names: new Set(indexes.flatMap((one) => (one.isValid ? [one.name] : []))), at: options.now() };
    }
    return known.names.has(name);
  };
  return {
    encode: encodeVector,
    async nearestEntries(query) {
      if (query.spans?.length === 0) return [];
      if (await isUnconverted(db, sql`entry_vectors where agent = ${query.agent} and space = ${query.space}`))
        return undefined;
      if (!(await hasIndex(nameAgentIndex(query.agent, query.space)))) return nearestExactly(db, query);
      const { all, wanted } = await countScope(db, query);
      const walked = searchBreadth * (all / Math.max(1, wanted));
      if (wanted < indexedMin || wanted * exactCostShare < walked || walked > walkedMax)
        return nearestExactly(db, query);
      const found = await nearestByIndex(db, query);
      const { spans, since, before, ranges } = query;
      const isFiltered = [spans, since, before, ranges].some((filter) => filter !== undefined);
      // The walk ended before it found enough: few of the vectors pass the filter.
      return isFiltered && found.length < query.limit ? nearestExactly(db, query) : found;
    },
    async nearestMemories(query) {
      if (query.scopes?.length === 0) return [];
      const scopes = query.scopes === undefined ? sql`` : sql`and scope = any(${[...query.scopes]}::text[])`;
      if (await isUnconverted(db, sql`memory_vectors where space = ${query.space} ${scopes}`)) return undefined;
      return nearestMemories(db, query, scopes);
    },
    async maintain(how) {
      const done = await maintainVectors(db, options, how);
      known = undefined;
      return done;
    },
  };
}

/** The text form of a `halfvec`. */
export function encodeVector(vector: Float32Array | Int8Array): string {
  return `[${(vector instanceof Int8Array ? vector : scaleFloats(vector)).join(",")}]`;
}

/** Numbers that cannot be compared become 0, because pgvector refuses them. */
function scaleFloats(vector: Float32Array): Int16Array {
  let largest = 0;
  for (let index = 0; index < vector.length; index += 1) largest = Math.max(largest, Math.abs(vector[index] as number));
  const scale = largest === 0 ? 0 : scaledMax / largest;
  const numbers = new Int16Array(vector.length);
  for (let index = 0; index < vector.length; index += 1) numbers[index] = Math.round((vector[index] as number) * scale);
  return numbers;
}

/** The text form of a query, whose numbers are rounded to what a half float can hold anyway. */
function encodeQuery(vector: Float32Array): string {
  return `[${Array.from(vector, (value) => value.toPrecision(5)).join(",")}]`;
}

async function isUnconverted(db: Db, rows: RawBuilder<unknown>): Promise<boolean> {
  const found = await sql`select 1 from ${rows} and embedding is null limit 1`.execute(db);
  return found.rows.length > 0;
}

/** How many vectors the agent has, and at most how many of them are in the wanted conversations. */
async function countScope(
  db: Db,
  { agent, space, spans }: NearestEntriesQuery,
): Promise<{ all: number; wanted: number }> {
  const ids = spans && [...new Set(spans.map((span) => span.conversation))];
  const { rows } = await sql<{ all: number | null; wanted: number | null }>`select
    (select entries from search_states where agent = ${agent} and space = ${space}) as all,
    ${ids === undefined ? sql`null::bigint` : sql`(select sum(entry_count) from conversations where agent = ${agent} and id = any(${ids}::bigint[]))`} as wanted`.execute(
    db,
  );
  const all = Number(rows[0]?.all ?? 0);
  return { all, wanted: ids === undefined ? all : Math.min(all, Number(rows[0]?.wanted ?? 0)) };
}

/** Compares every vector in the wanted conversations. No index has this expression, so none is used for the order. */
async function nearestExactly(db: Db, query: NearestEntriesQuery): Promise<NearestEntry[]> {
  const target = sql`${encodeQuery(query.vector)}::halfvec`;
  const { rows } = await sql<NearestEntry>`select seq, 1 - distance as cosine from (
      select seq, embedding <=> ${target} as distance from entry_vectors
      where agent = ${query.agent} and space = ${query.space} ${spanFilter(query.spans)} ${rowFilter(query)}) as compared
    where distance <> 'NaN' order by distance, seq limit ${query.limit}`.execute(db);
  return rows;
}

/** The names of agent and space are literals, so that every plan finds the index whose condition has them. */
async function nearestByIndex(db: Db, query: NearestEntriesQuery): Promise<NearestEntry[]> {
  const column = sql.raw(`embedding::halfvec(${query.vector.length})`);
  const target = sql`${encodeQuery(query.vector)}::halfvec(${sql.raw(String(query.vector.length))})`;
  const breadth = String(Math.min(searchBreadthMax, Math.max(searchBreadth, 4 * query.limit)));
  return db.transaction().execute(async (tx) => {
    await sql`select set_config('hnsw.ef_search', ${breadth}, true),
      set_config('hnsw.iterative_scan', 'strict_order', true),
      set_config('hnsw.max_scan_tuples', ${String(walkedMax)}, true),
      set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true),
      set_config('enable_sort', 'off', true)`.execute(tx);
    const { rows } = await sql<NearestEntry>`select seq, 1 - (${column} <=> ${target}) as cosine from entry_vectors
      where agent = ${sql.lit(query.agent)} and space = ${sql.lit(query.space)}
        ${spanFilter(query.spans)} ${rowFilter(query)}
      order by ${column} <=> ${target} limit ${query.limit}`.execute(tx);
    return rows;
  });
}

async function nearestMemories(
  db: Db,
  { space, vector, limit }: NearestMemoriesQuery,
  scopes: RawBuilder<unknown>,
): Promise<{ memory: string; cosine: number }[]> {
  const target = sql`${encodeQuery(vector)}::halfvec`;
  const { rows } = await sql<{ memory: string; cosine: number }>`select memory, 1 - distance as cosine from (
      select memory, num, embedding <=> ${target} as distance from memory_vectors where space = ${space} ${scopes}) as compared
    where distance <> 'NaN' order by distance, num limit ${limit}`.execute(db);
  return rows;
}

function spanFilter(spans: readonly ConversationSpan[] | undefined): RawBuilder<unknown> {
  if (spans === undefined) return sql``;
  const whole = spans.flatMap(({ conversation, upTo }) => (upTo === undefined ? [conversation] : []));
  const cut = spans.flatMap(({ conversation, upTo }) =>
    upTo === undefined ? [] : [sql`(conversation = ${conversation} and seq <= ${upTo})`],
  );
  const parts = [...(whole.length === 0 ? [] : [sql`conversation = any(${whole}::bigint[])`]), ...cut];
  return sql`and (${sql.join(parts, sql` or `)})`;
}

/** Conditions on the time of messages and on their sequence numbers. */
function rowFilter({ since, before, ranges }: NearestEntriesQuery): RawBuilder<unknown> {
  const parts = ranges?.map(({ after, upTo }) => sql`seq > ${after} and seq <= ${upTo}`);
  return sql`${since === undefined ? sql`` : sql`and time >= ${since}`}
    ${before === undefined ? sql`` : sql`and time < ${before}`}
    ${parts === undefined ? sql`` : sql`and (${sql.join([sql`false`, ...parts], sql` or `)})`}`;
}

import { sql } from "kysely";
import type { VectorMaintenance, VectorMaintenanceOptions, VectorStorage } from "../port.ts";
import type { Db } from "../schema.ts";
import {
  hasVectorColumns,
  listAgentIndexes,
  nameAgentIndex,
  readVectorVersion,
  vectorTables,
} from "./vector-schema.ts";

/** Agents with fewer vectors are searched exactly: some 10 ms for this many. */
export const indexedMin = 20_000;
/** More indexes than this would slow down every write and every plan; the largest agents get them. */
const indexesMax = 64;
const pageRows = 500;
/** How the graph of an index is built: more edges and more care give better recall, and a slower build. */
const graph = { m: 24, ef_construction: 128 };
/**
 * The memory that a build asks for, in MB: what it holds of a vector, and a limit. A build that does not fit takes many times
 * as long from there on, so the limit is higher where the server has more `shared_buffers` or `maintenance_work_mem`.
 */
const buildMemory = { baseMb: 64, bytesPerVector: 2_000, maxMb: 1_024 };

interface LargeAgent {
  agent: string;
  space: number;
  vectors: number;
  dimensions: number;
}

export async function maintainVectors(
  db: Db,
  { isOwner }: { isOwner: boolean },
  { signal, onProgress }: VectorMaintenanceOptions = {},
): Promise<VectorMaintenance> {
  let converted = 0;
  for (const table of vectorTables) {
    for (let rows = pageRows; rows > 0; ) {
      signal?.throwIfAborted();
      rows = await convertPage(db, table);
      converted += rows;
      if (rows > 0) onProgress?.(converted);
    }
  }
  const missing = await listUnindexed(db);
  const indexed: string[] = [];
  if (isOwner) {
    await dropUnusedIndexes(db);
    for (const one of missing) {
      signal?.throwIfAborted();
      if (await buildIndex(db, one)) indexed.push(one.agent);
    }
  }
  const unindexed = missing.map((one) => one.agent).filter((agent) => !indexed.includes(agent));
  return { converted, indexed, unindexed };
}

/** Fills the column of some vectors of one tenant from their bytes. A page is one statement, so a crash loses nothing. */
async function convertPage(db: Db, table: (typeof vectorTables)[number]): Promise<number> {
  const [tenant, number] = table === "entry_vectors" ? ["agent", "seq"] : ["scope", "num"];
  const first = await sql<{ tenant: string; space: number }>`select ${sql.ref(tenant)} as tenant, space
    from ${sql.table(table)} where embedding is null order by ${sql.ref(tenant)}, space limit 1`.execute(db);
  const [page] = first.rows;
  if (!page) return 0;
  const { rows } = await sql<{ number: number; vector: Uint8Array }>`select ${sql.ref(number)} as number, vector
    from ${sql.table(table)} where ${sql.ref(tenant)} = ${page.tenant} and space = ${page.space} and embedding is null
    order by ${sql.ref(number)} limit ${pageRows}`.execute(db);
  const numbers = rows.map((row) => row.number);
  const texts = rows.map(({ vector }) => `[${new Int8Array(vector.buffer, vector.byteOffset, vector.byteLength)}]`);
  await sql`update ${sql.table(table)} as v set embedding = made.embedding::halfvec
    from unnest(${numbers}::bigint[], ${texts}::text[]) as made (number, embedding)
    where v.${sql.ref(tenant)} = ${page.tenant} and v.space = ${page.space} and v.${sql.ref(number)} = made.number
      and v.embedding is null`.execute(db);
  return rows.length;
}

/** The names of spaces with instant vectors start with this. */
const instantPrefix = "local/instant-";

/**
 * The agents with the most vectors, each with its space. Instant vectors are searched only where the model has made none, so
 * they need no index once it has embedded half of the messages.
 */
async function listLarge(db: Db): Promise<Omit<LargeAgent, "dimensions">[]> {
  const { rows } = await sql<Omit<LargeAgent, "dimensions">>`select s.agent, s.space, s.entries as vectors
    from search_states s left join vector_spaces v on v.id = s.space
    where s.entries >= ${indexedMin} and not (starts_with(coalesce(v.name, ''), ${instantPrefix}) and exists (
      select 1 from search_states o where o.agent = s.agent and o.space <> s.space and 2 * o.entries >= s.entries))
    order by s.entries desc, s.agent limit ${indexesMax}`.execute(db);
  return rows;
}

/** Indexes of agents that were removed, or whose vectors are of an earlier model that is no longer needed. */
async function dropUnusedIndexes(db: Db): Promise<void> {
  const used = new Set((await listLarge(db)).map((one) => nameAgentIndex(one.agent, one.space)));
  for (const { name, isValid } of await listAgentIndexes(db)) {
    // One that is not valid may be in the making.
    if (isValid && !used.has(name)) await sql`drop index concurrently if exists ${sql.ref(name)}`.execute(db);
  }
}

/** The largest agents that have no valid index yet. */
async function listUnindexed(db: Db): Promise<LargeAgent[]> {
  const valid = new Set((await listAgentIndexes(db)).flatMap((one) => (one.isValid ? [one.name] : [])));
  const missing: LargeAgent[] = [];
  for (const one of await listLarge(db)) {
    if (valid.has(nameAgentIndex(one.agent, one.space))) continue;
    const sample = await sql<{ dimensions: number }>`select octet_length(vector) as dimensions from entry_vectors
      where agent = ${one.agent} and space = ${one.space} limit 1`.execute(db);
    const dimensions = sample.rows[0]?.dimensions;
    // No index of pgvector holds longer half vectors.
    if (dimensions !== undefined && dimensions <= dimensionsMax) missing.push({ ...one, dimensions });
  }
  return missing;
}

const dimensionsMax = 4_000;

/**
 * Builds the index of one agent while others read and write. Of several processes one does it; the remains of a build
 * that was interrupted are removed first.
 */
async function buildIndex(db: Db, { agent, space, vectors, dimensions }: LargeAgent): Promise<boolean> {
  const name = nameAgentIndex(agent, space);
  const remains = (await listAgentIndexes(db)).some((one) => one.name === name);
  const running =
    await sql`select 1 from pg_stat_progress_create_index where relid = 'entry_vectors'::regclass`.execute(db);
  if (running.rows.length > 0) return false;
  const { baseMb, bytesPerVector, maxMb } = buildMemory;
  const wantedMb = Math.ceil(baseMb + (vectors * (bytesPerVector + 2 * dimensions)) / 2 ** 20);
  return db.connection().execute(async (connection) => {
    if (remains) await sql`drop index concurrently if exists ${sql.ref(name)}`.execute(connection);
    await sql`select set_config('maintenance_work_mem', greatest(setting.own, least(${wantedMb}::bigint,
        greatest(${maxMb}::bigint, setting.shared)))::text || 'MB', false)
      from (select pg_size_bytes(current_setting('maintenance_work_mem')) / 1048576 as own,
        pg_size_bytes(current_setting('shared_buffers')) / 1048576 as shared) as setting`.execute(connection);
    try {
      await sql`create index concurrently if not exists ${sql.ref(name)} on entry_vectors
        using hnsw ((embedding::halfvec(${sql.raw(String(dimensions))})) halfvec_cosine_ops)
        with (m = ${sql.raw(String(graph.m))}, ef_construction = ${sql.raw(String(graph.ef_construction))})
        where agent = ${sql.lit(agent)} and space = ${sql.lit(space)}`.execute(connection);
      return (await listAgentIndexes(connection)).some((one) => one.name === name && one.isValid);
    } finally {
      await sql`reset maintenance_work_mem`.execute(connection);
    }
  });
}

/** How vectors are stored, and what to do about it. */
export async function describeVectors(db: Db, { isOwner }: { isOwner: boolean }): Promise<VectorStorage> {
  const extension = await readVectorVersion(db);
  if (!(await hasVectorColumns(db))) {
    return {
      storage: "memory",
      ...(extension === undefined ? {} : { extension }),
      isConverting: false,
      advice: [explainMissing(extension)],
    };
  }
  const pending = await sql`select 1 from entry_vectors where embedding is null limit 1`.execute(db);
  const isConverting = pending.rows.length > 0;
  const unindexed = await listUnindexed(db);
  const named = unindexed.slice(0, 5).map((one) => one.agent);
  return {
    storage: "pgvector",
    ...(extension === undefined ? {} : { extension }),
    isConverting,
    advice: [
      ...(isConverting
        ? ["some vectors are stored as bytes only: run `varve db vectors`, or leave it to the gateway"]
        : []),
      ...(unindexed.length === 0
        ? []
        : [
            `${unindexed.length} agents (${named.join(", ")}${unindexed.length > named.length ? ", …" : ""}) have many vectors and no index, so every search compares all of them: run \`varve db vectors\`${isOwner ? ", or leave it to the gateway" : " as the owner of the tables"}`,
          ]),
    ],
  };
}

function explainMissing(extension: string | undefined): string {
  const effect = "so every process loads the vectors that it searches into its memory";
  if (extension !== undefined)
    return `pgvector ${extension} is installed, but its columns are not there (0.8 or later is needed), ${effect}: run \`alter extension vector update\`, then \`varve db vectors\` as the owner of the tables`;
  return `pgvector is not installed, ${effect}: install it on the server (on Debian \`apt-get install postgresql-N-pgvector\`), run \`create extension vector\` in this database as a superuser, then \`varve db vectors\` as the owner of the tables`;
}

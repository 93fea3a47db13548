/** How the tables are laid out on PostgreSQL with Citus: distributed by agent, or on the coordinator. */
import { sql } from "kysely";
import { VarveError } from "../../domain/index.ts";
import type { Distribution } from "../port.ts";
import type { Db } from "../schema.ts";
import { policyName } from "./row-security.ts";

/**
 * Tables whose rows belong to one agent. Those of an agent are on the same worker, so that a statement that names the
 * agent runs there as a whole. The first is the one that the others are placed with.
 */
export const distributedTables = [
  ...["conversations", "transcripts", "branches", "entries", "entry_text", "sessions", "owners", "notices"],
  ...[
    "cron_runs",
    "checkpoints",
    "import_files",
    "quarantine",
    "secrets",
    "summaries",
    "summary_sources",
    "context_items",
  ],
  ...["context_states", "files", "file_refs", "turns", "grants", "entry_vectors", "entry_tokens", "document_vectors"],
  ...["search_states", "corpus_files", "corpus_chunks", "corpus_states", "memory_cursors", "memory_recalls"],
  "memory_spend",
] as const;

/** Tables that stay on the coordinator: memories, whose tenant is a scope, queues that every gateway polls, and settings. */
export const coordinatorTables = [
  ...["meta", "jobs", "leases", "inbox", "model_days", "model_states", "token_ratios", "vector_spaces", "tokens"],
  ...["audit", "audit_links", "memories", "memory_sources", "memory_relations", "memory_support", "memory_vectors"],
  ...["memory_reviews", "memory_files", "memory_accesses", "memory_text"],
] as const;

/** The column by which they are distributed. */
export const tenantColumn = "agent";

/** The statements that distribute the tables, for the coordinator of a Citus cluster. */
export function listDistribution(): string[] {
  return distributedTables.flatMap(listTableDistribution);
}

/** Citus refuses policies with sub-queries, and does not tell workers which tenant a transaction names: they go first. */
function listTableDistribution(table: string): string[] {
  const [first] = distributedTables;
  const placed = table === first ? "none" : first;
  return [
    `drop policy if exists ${policyName} on ${table}`,
    `alter table ${table} disable row level security`,
    `select create_distributed_table('${table}', '${tenantColumn}', colocate_with => '${placed}')`,
  ];
}

/** Distributes the tables that are not distributed yet, one by one: an interrupted call is continued by the next. */
export async function distributeTables(db: Db): Promise<Distribution> {
  const { rows } = await sql`select 1 from pg_extension where extname = 'citus'`.execute(db);
  if (rows.length === 0) {
    throw new VarveError("REFUSED", "The tables cannot be distributed: the database has no extension citus.", {
      remedy:
        "Install Citus on every server, add `citus` to shared_preload_libraries, run `create extension citus` in this " +
        "database and in the one with the same name on every worker, and add the workers with `select citus_add_node(…)`.",
    });
  }
  const done = await sql<{ name: string }>`select logicalrelid::text as name from pg_dist_partition
    where partmethod = 'h'`.execute(db);
  const already = new Set(done.rows.map(({ name }) => name));
  const missing = distributedTables.filter((table) => !already.has(table));
  for (const statement of missing.flatMap(listTableDistribution)) await sql.raw(statement).execute(db);
  return { distributed: missing, already: distributedTables.filter((table) => already.has(table)) };
}

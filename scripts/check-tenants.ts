/**
 * Checks what the conformance tests sent to PostgreSQL: every statement on a table that is distributed by tenant names
 * its tenant. `npm test` records the statements and runs this; by hand:
 * `VARVE_TEST_STATEMENTS=.cache/statements npx vitest run --project conformance && node scripts/check-tenants.ts`.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { distributedTables, tenantColumn } from "../src/store/postgres/distribution.ts";
import { findTenantFaults, loadParser } from "./statement-tenants.ts";

interface Statement {
  text: string;
  /** The line of the project that wrote it, such as `src/turn/inbox.ts:40`. */
  origin: string;
}

/** Files whose statements concern every tenant on purpose. */
const forEveryTenant: readonly (readonly [path: string, reason: string])[] = [
  ["src/store/migrations/", "the schema changes for every tenant, before tables are distributed or shard by shard"],
  ["src/store/dump.ts", "a dump reads everything"],
  ["src/store/postgres/maintain-vectors.ts", "the owner of the tables converts and indexes the vectors of every agent"],
  ["src/maintenance/", "the status, the doctor, retention and erasure look at the whole database"],
  ["src/context/check-dag.ts", "a check of the doctor"],
  ["src/transcript/check-log.ts", "a check of the doctor"],
  ["src/context/history/grants.ts", "expired grants of all agents are ended every ten minutes"],
  ["src/memory/erase-memories.ts", "an erased memory may have been shown to several agents"],
  ["src/search/corpus/sync.ts", "the files of every configured agent are compared with what is stored"],
  ["src/search/embedding/embed-pending.ts", "the background looks for agents with something to embed"],
  ["src/search/prune.ts", "vectors of an earlier model are removed for every agent"],
  ["src/memory/extract/extraction-jobs.ts", "the background looks for conversations that were not read for memories"],
  ["src/store/seal/", "every text is encrypted, decrypted or encrypted with another key"],
  ["src/search/search-service.ts", "the status counts the messages of all agents"],
];

function readStatements(folder: string): Statement[] {
  const lines = (existsSync(folder) ? readdirSync(folder) : [])
    .filter((name) => name.endsWith(".jsonl"))
    .flatMap((name) => readFileSync(join(folder, name), "utf8").split("\n").filter(Boolean));
  const statements = lines
    .map((line) => JSON.parse(line) as Statement)
    // Tests may look at the tables as they like.
    .filter(({ origin }) => !origin.startsWith("test/"));
  return [...new Map(statements.map((one) => [`${one.origin} ${one.text}`, one])).values()];
}

/** The faults of a statement with its origin and its text. */
function checkStatement({ text, origin }: Statement): string[] {
  const layout = { tables: new Set<string>(distributedTables), tenant: tenantColumn };
  try {
    return findTenantFaults(text, layout).map((fault) => `${origin}: ${fault}\n    ${text.replace(/\s+/g, " ")}`);
  } catch (error) {
    return [`${origin}: the statement cannot be parsed (${(error as Error).message})\n    ${text}`];
  }
}

const folder = process.argv[2] ?? ".cache/statements";
await loadParser();
const statements = readStatements(folder).filter(
  ({ origin }) => !forEveryTenant.some(([path]) => origin.startsWith(path)),
);
const faults = [...new Set(statements.flatMap(checkStatement))];
for (const fault of faults) console.error(fault);
if (statements.length === 0) {
  console.error(
    `There are no statements in ${folder}: run the conformance tests with VARVE_TEST_STATEMENTS=${folder}.`,
  );
}
if (faults.length > 0 || statements.length === 0) process.exitCode = 1;
else console.log(`Every statement names its tenant: ${statements.length} statements.`);

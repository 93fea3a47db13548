export { attachStatement, prepareQuery } from "./compiled-query.ts";
export { dumpTables, restoreDump } from "./dump.ts";
export { enqueueJob, extendJob, failJob, finishJob, leaseJob, returnJob } from "./job-rows.ts";
export { dropLease, type Lease, listStaleLeases, takeLease } from "./leases.ts";
export type { MemorySourceTable, MemoryTable } from "./memory-schema.ts";
export { type Migration, schemaVersion } from "./migrate.ts";
export { migrations } from "./migrations/index.ts";
export { isPostgres, openEntryReader, openStore, startStore } from "./open.ts";
export type * from "./port.ts";
export { listDistribution } from "./postgres/distribution.ts";
export { listRoleGrants } from "./postgres/row-security.ts";
export type {
  AccessTokenTable,
  AuditTable,
  BranchTable,
  ConversationTable,
  Db,
  EntryTable,
  GrantTable,
  InboxTable,
  JobTable,
  Schema,
  SessionTable,
  SummaryTable,
  Tx,
} from "./schema.ts";
export { loadKeys } from "./seal/load-keys.ts";
export { isSealedFile, openSealedFile } from "./seal/sealed-file.ts";
export { startSpareThreads } from "./sqlite/connection.ts";
export { isOfAgent } from "./tenant-filter.ts";
export { indexWords, queryWords } from "./text-index.ts";

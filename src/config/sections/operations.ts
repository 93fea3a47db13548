import { z } from "zod";

export const storeSection = z.strictObject({
  busyTimeoutMs: z
    .int()
    .min(0)
    .max(600_000)
    .default(5_000)
    .describe("How long a write waits for another process's write to finish, in milliseconds."),
  readers: z
    .int()
    .min(1)
    .max(16)
    .default(1)
    .describe("How many threads read a SQLite file in addition to its one writer."),
  cacheMiB: z
    .int()
    .min(1)
    .max(65_536)
    .default(32)
    .describe("The page cache of the SQLite connection that writes, in MiB; those that read have a quarter of it."),
  poolSize: z.int().min(1).max(1000).default(10).describe("The maximum number of connections to PostgreSQL."),
  preparedStatements: z
    .enum(["auto", "on", "off"])
    .default("auto")
    .describe(
      "Whether PostgreSQL keeps statements prepared on each connection, which makes turns faster. pgbouncer in transaction mode needs it off, unless its max_prepared_statements is set. auto: on, but off when there is a pooler between.",
    ),
  connectTimeoutMs: z
    .int()
    .min(0)
    .max(600_000)
    .default(5_000)
    .describe(
      "How long opening a connection to PostgreSQL may take, in milliseconds; 0 for no limit. connect_timeout in the address, in seconds, comes first.",
    ),
  statementTimeoutMs: z
    .int()
    .min(0)
    .max(86_400_000)
    .default(60_000)
    .describe(
      "How long one statement on PostgreSQL may take, in milliseconds; 0 for no limit. Its connection is then closed. Migrations, backups and index builds have no limit.",
    ),
  idleTimeoutMs: z
    .int()
    .min(1)
    .max(86_400_000)
    .default(10_000)
    .describe("How long an unused connection to PostgreSQL stays open, in milliseconds."),
  silenceMs: z
    .int()
    .min(0)
    .max(600_000)
    .default(2_000)
    .describe(
      "How long PostgreSQL may take to answer before a new connection checks whether it is alive, in milliseconds; 0 never checks. When that fails too, all connections to the server are closed and another one is looked for.",
    ),
  reconnectMs: z
    .int()
    .min(0)
    .max(600_000)
    .default(5_000)
    .describe("How long a call waits for PostgreSQL to be reachable again, in milliseconds, before it fails."),
});

export const importSection = z.strictObject({
  batchSize: z.int().min(1).max(10_000).default(500).describe("How many entries an import writes per transaction."),
  folders: z
    .array(z.string().min(1))
    .default([])
    .describe("Folders that the gateway may import from when the console names one. Default: the owner's home folder."),
});

export const cronSection = z.strictObject({
  runLogMaxBytes: z.int().min(0).default(2_000_000).describe("The maximum bytes of run log kept per scheduled job."),
  runLogMaxRows: z.int().min(0).default(2_000).describe("The maximum rows of run log kept per scheduled job."),
});

export const logSection = z.strictObject({
  level: z
    .enum(["silent", "fatal", "error", "warn", "info", "debug", "trace"])
    .default("info")
    .describe("The minimum log level."),
});

import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  Kysely,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from "kysely";
import type { Schema } from "../schema.ts";

export type Execute = (sql: string, parameters: readonly unknown[]) => Promise<{ rows: unknown[]; changes: number }>;

/** Creates a Kysely instance whose statements are executed by `execute`, here in a worker thread. */
export function createKysely(execute: Execute, begin = "begin immediate"): Kysely<Schema> {
  const connection: DatabaseConnection = {
    async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
      const { rows, changes } = await execute(query.sql, query.parameters);
      return { rows: rows as R[], numAffectedRows: BigInt(changes) };
    },
    streamQuery() {
      throw new Error("results are paged, not streamed");
    },
  };
  const dialect: Dialect = {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => new SingleConnectionDriver(connection, begin),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  };
  return new Kysely<Schema>({ dialect });
}

class SingleConnectionDriver implements Driver {
  private readonly connection: DatabaseConnection;
  private readonly begin: string;

  constructor(connection: DatabaseConnection, begin: string) {
    this.connection = connection;
    this.begin = begin;
  }

  async init(): Promise<void> {
    // The worker has already opened the database.
  }

  async acquireConnection(): Promise<DatabaseConnection> {
    return this.connection;
  }

  async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw(this.begin));
  }

  async commitTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw("commit"));
  }

  async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw("rollback"));
  }

  async releaseConnection(): Promise<void> {
    // There is only one connection; it stays open.
  }

  async destroy(): Promise<void> {
    // The store closes the worker.
  }
}

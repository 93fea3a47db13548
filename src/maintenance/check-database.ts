import { type ServerDescription, type Store, schemaVersion, type VectorStorage } from "../store/index.ts";

export interface DatabaseCheck {
  engine: string;
  schemaVersion: number;
  /** The role of the connection; absent for SQLite. */
  role?: string;
  /** The id of the key that texts are encrypted with; absent when they are plain. */
  encryptedWith?: string;
  /** How vectors are stored, with advice. */
  vectors: VectorStorage;
  /** The server, with advice; absent for SQLite. */
  server?: ServerDescription;
  /** How far the replica is behind, or why it is not read; absent without one. */
  replica?: { lagMs?: number; fault?: string };
  /** The changes that are needed before several tenants may share the database. */
  faults: string[];
}

/** Checks whether the database is set up to keep tenants apart: on PostgreSQL by row-level security. */
export async function checkDatabase(store: Store): Promise<DatabaseCheck> {
  const { role, faults } = await store.checkTenancy();
  return {
    engine: store.engine,
    schemaVersion: await schemaVersion(store.db, store.engine),
    ...(role === undefined ? {} : { role }),
    ...(store.sealedWith === undefined ? {} : { encryptedWith: store.sealedWith }),
    vectors: await store.describeVectors(),
    ...(store.describeServer === undefined ? {} : { server: await store.describeServer() }),
    ...(store.describeReplica === undefined ? {} : { replica: await store.describeReplica() }),
    faults,
  };
}

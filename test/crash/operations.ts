import type { Operation } from "./operation.ts";
import { access } from "./operations/access.ts";
import { backup } from "./operations/backup.ts";
import { branch } from "./operations/branch.ts";
import { compact } from "./operations/compact.ts";
import { embedding } from "./operations/embedding.ts";
import { importing } from "./operations/import.ts";
import { ingest, ingestSingle } from "./operations/ingest.ts";
import { memories } from "./operations/memories.ts";
import { migration } from "./operations/migration.ts";
import { sessions } from "./operations/sessions.ts";
import { turns } from "./operations/turns.ts";
import { vectors } from "./operations/vectors.ts";

/** Everything that is killed in the middle. A new kind of work is added here and nowhere else. */
export const operations: readonly Operation[] = [
  ingest,
  ingestSingle,
  importing,
  branch,
  compact,
  turns,
  memories,
  embedding,
  vectors,
  sessions,
  backup,
  access,
  migration,
];

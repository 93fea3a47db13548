import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { isJsonObject, type JsonObject, VarveError } from "../../domain/index.ts";
import { normaliseOpenclawKey } from "./openclaw/session-keys.ts";

/** Facts from another agent's own store about a session: older ones have a `sessions.json`, newer ones a database. */
export interface LegacySession {
  /** The key, in the form in which it is stored here. */
  key: string;
  agent: string;
  sessionId: string;
  /** The key as the source has it. */
  sourceKey?: string;
  /** The original row, for fields that carry over. */
  fields: JsonObject;
  /** Set for a transcript that its key no longer points to. */
  archived?: { reason: string; at: number };
  /** For a sub-agent: the key of the session that started it. */
  parentKey?: string;
  /** Whether its program uses it now: it takes its key from an earlier session. */
  isLive?: true;
}

export const legacyStoreName = "sessions.json";

/** The legacy sessions in a file's folder by session id; empty when there are none. */
export function findLegacySessions(file: string): Map<string, LegacySession> {
  const store = join(dirname(file), legacyStoreName);
  return existsSync(store) ? parseLegacyStore(store) : new Map();
}

/** `agent` owns the keys that name none. */
export function parseLegacyStore(file: string, agent = "main"): Map<string, LegacySession> {
  const sessions = new Map<string, LegacySession>();
  for (const [sourceKey, fields] of Object.entries(readStore(file))) {
    if (!isJsonObject(fields) || typeof fields.sessionId !== "string") continue;
    const { sessionId, spawnedBy } = fields;
    const named = normaliseOpenclawKey(sourceKey, agent);
    const parentKey = typeof spawnedBy === "string" ? { parentKey: spawnedBy } : {};
    sessions.set(sessionId, { key: named.key, agent: named.agent, sessionId, sourceKey, fields, ...parentKey });
  }
  return sessions;
}

function readStore(file: string): JsonObject {
  try {
    const value: unknown = JSON.parse(readFileSync(file, "utf8"));
    if (isJsonObject(value)) return value;
  } catch (error) {
    throw badStoreError(file, error);
  }
  throw badStoreError(file);
}

function badStoreError(file: string, cause?: unknown): VarveError {
  return new VarveError("BAD_FILE", `${file} is not a session store: it must be a JSON object of session keys.`, {
    remedy: "Repair or move the file; the transcripts next to it can be imported without it.",
    cause,
  });
}

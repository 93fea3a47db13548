import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { isJsonObject, type JsonObject, parseSessionKey, printSessionKey, VarveError } from "../../domain/index.ts";

/** A session in the `sessions.json` that older agents store next to their transcripts. */
export interface LegacySession {
  key: string;
  sessionId: string;
  /** The original row, for fields that carry over. */
  fields: JsonObject;
}

export const legacyStoreName = "sessions.json";

/** The legacy sessions in a file's folder by session id; empty when there are none. */
export function findLegacySessions(file: string): Map<string, LegacySession> {
  const store = join(dirname(file), legacyStoreName);
  return existsSync(store) ? parseLegacyStore(store) : new Map();
}

export function parseLegacyStore(file: string): Map<string, LegacySession> {
  const sessions = new Map<string, LegacySession>();
  for (const [key, fields] of Object.entries(readStore(file))) {
    if (!isJsonObject(fields) || typeof fields.sessionId !== "string") continue;
    sessions.set(fields.sessionId, { key: normaliseKey(key), sessionId: fields.sessionId, fields });
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

/** Old keys had a looser syntax; one that does not parse becomes the name of a direct chat. */
function normaliseKey(key: string): string {
  try {
    return printSessionKey(parseSessionKey(key));
  } catch (error) {
    if (!(error instanceof VarveError)) throw error;
    const peer = key.replace(/[^\p{L}\p{N}._@+:-]+/gu, "-").replace(/^:+|:+$/g, "") || "unnamed";
    return printSessionKey(parseSessionKey(`agent:main:legacy:direct:${peer}`));
  }
}

import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { isJsonObject, type JsonObject, parseSessionKey, printSessionKey, VarveError } from "../../domain/index.ts";

/** A session of the store that older agents keep as one `sessions.json` beside their transcripts. */
export interface LegacySession {
  key: string;
  sessionId: string;
  /** The row as it stood, for the fields that carry over. */
  fields: JsonObject;
}

export const legacyStoreName = "sessions.json";

/** The sessions of the legacy store in a file's folder, by session id; empty when there is none. */
export function legacySessions(file: string): Map<string, LegacySession> {
  const store = join(dirname(file), legacyStoreName);
  return existsSync(store) ? parseLegacyStore(store) : new Map();
}

export function parseLegacyStore(file: string): Map<string, LegacySession> {
  const sessions = new Map<string, LegacySession>();
  for (const [key, fields] of Object.entries(readStore(file))) {
    if (!isJsonObject(fields) || typeof fields.sessionId !== "string") continue;
    sessions.set(fields.sessionId, { key: normalisedKey(key), sessionId: fields.sessionId, fields });
  }
  return sessions;
}

function readStore(file: string): JsonObject {
  try {
    const value: unknown = JSON.parse(readFileSync(file, "utf8"));
    if (isJsonObject(value)) return value;
  } catch (error) {
    throw badStore(file, error);
  }
  throw badStore(file);
}

function badStore(file: string, cause?: unknown): VarveError {
  return new VarveError("BAD_FILE", `${file} is not a session store: it must be a JSON object of session keys.`, {
    remedy: "Repair or move the file; the transcripts beside it can be imported without it.",
    cause,
  });
}

/** Keys were written more freely once; one that does not parse keeps its text as the name of a direct chat. */
function normalisedKey(key: string): string {
  try {
    return printSessionKey(parseSessionKey(key));
  } catch (error) {
    if (!(error instanceof VarveError)) throw error;
    const peer = key.replace(/[^\p{L}\p{N}._@+:-]+/gu, "-").replace(/^:+|:+$/g, "") || "unnamed";
    return printSessionKey(parseSessionKey(`agent:main:legacy:direct:${peer}`));
  }
}

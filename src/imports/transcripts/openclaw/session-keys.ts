import { parseSessionKey, printStoredKey, type SessionKey, VarveError } from "../../../domain/index.ts";

export interface ImportedKey {
  /** The key in the store. */
  key: string;
  agent: string;
  /** Whether the key is not one of Varve's forms, and was given another name. */
  renamed: boolean;
}

/**
 * The key of an OpenClaw session. Old versions left out the agent (`main`, `discord:group:7`); a form that has no
 * meaning here becomes the name of a direct chat, so that the session can be opened.
 */
export function normaliseOpenclawKey(key: string, agent: string): ImportedKey {
  const owner = agent.toLowerCase();
  const parsed = tryParse(key);
  if (parsed !== undefined && parsed.kind !== "pair") {
    return {
      key: printStoredKey(parsed),
      agent: ("agent" in parsed ? parsed.agent : undefined) ?? owner,
      renamed: false,
    };
  }
  const owned = /^agent:/i.test(key) ? undefined : tryParse(`agent:${owner}:${key}`);
  if (owned !== undefined) return { key: printStoredKey(owned), agent: owner, renamed: false };
  if (parsed !== undefined) {
    const direct = tryParse(`agent:${owner}:${parsed.channel}:direct:${parsed.userId}`);
    if (direct !== undefined) return { key: printStoredKey(direct), agent: owner, renamed: false };
  }
  const named = /^agent:([^:\s]+):(.+)$/i.exec(key);
  const keyAgent = named?.[1]?.toLowerCase() ?? owner;
  const peer = (named?.[2] ?? key).replace(/[^\p{L}\p{N}._@+:-]+/gu, "-").replace(/^:+|:+$/g, "") || "unnamed";
  const direct = parseSessionKey(`agent:${keyAgent}:openclaw:direct:${peer}`);
  return { key: printStoredKey(direct), agent: keyAgent, renamed: true };
}

function tryParse(key: string): SessionKey | undefined {
  try {
    return parseSessionKey(key);
  } catch (error) {
    if (error instanceof VarveError) return undefined;
    throw error;
  }
}

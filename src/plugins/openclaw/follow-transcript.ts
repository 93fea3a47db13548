import type { HostPage, Varve } from "../../index.ts";
import { normaliseOpenclawKey } from "../../index.ts";
import { loadHostSdk } from "./host-sdk.ts";
import type { SessionTarget } from "./host-types.ts";
import { getSharedState } from "./shared-engine.ts";

export interface FollowRequest {
  target: Required<Pick<SessionTarget, "agentId" | "sessionId" | "sessionKey">> & Pick<SessionTarget, "storePath">;
  /** The database of the agent. An import of OpenClaw's folder names the transcript in the same way. */
  databaseFile: string;
  /** The session that started this sub-agent. */
  parentKey?: string;
  /** The last record to import; up to the current turn when absent. */
  lastSeq?: number;
  /** Whether everything is stored in one transaction. */
  isAtomic?: boolean;
}

const eventsMax = 2_000;
const bytesMax = 4_000_000;
const bytesLimit = 64 * 1024 * 1024;

/**
 * Imports what OpenClaw's transcript has and Varve has not: turns that were never committed, replies of sub-agents, the
 * history before the first install, resets. It costs one read when there is nothing new.
 */
export async function followTranscript(varve: Varve, request: FollowRequest): Promise<{ imported: number }> {
  const { agentId, sessionId, sessionKey } = request.target;
  const agent = agentId.toLowerCase();
  const { readSessionTranscriptRawDelta } = await loadHostSdk();
  const readPage = async (cursor: string | undefined): Promise<HostPage> => {
    for (let maxBytes = bytesMax; ; ) {
      const page = await readSessionTranscriptRawDelta({ ...request.target, cursor, maxEvents: eventsMax, maxBytes });
      if (page.kind !== "page") return { kind: page.kind };
      const { requiredBytes = 0, events, ...rest } = page;
      // A single record may be larger than a page.
      if (events.length > 0 || requiredBytes <= maxBytes || maxBytes >= bytesLimit) return { ...rest, records: events };
      maxBytes = Math.min(bytesLimit, requiredBytes + 1);
    }
  };
  const { key } = normaliseOpenclawKey(sessionKey, agent);
  const transcript = {
    path: `${request.databaseFile}#${sessionId}`,
    session: {
      key,
      agent,
      sessionId,
      sourceKey: sessionKey,
      fields: {},
      isLive: true as const,
      ...(request.parentKey === undefined ? {} : { parentKey: request.parentKey }),
    },
    ...(request.lastSeq === undefined ? {} : { lastSeq: request.lastSeq }),
    readPage,
  };
  return runInOrder(transcript.path, () =>
    varve.importHostTranscript(transcript, { isAtomic: request.isAtomic ?? false }),
  );
}

async function runInOrder<T>(path: string, work: () => Promise<T>): Promise<T> {
  const { imports } = getSharedState();
  const done = (imports.get(path) ?? Promise.resolve()).then(work, work);
  imports.set(path, done);
  try {
    return await done;
  } finally {
    if (imports.get(path) === done) imports.delete(path);
  }
}

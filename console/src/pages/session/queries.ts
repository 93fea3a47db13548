import { type Answer, call } from "../../api/client.ts";

export type EntryPage = Answer<"GET /api/sessions/{key}/messages">;
export type SessionEntry = EntryPage["entries"][number];
export type Recall = Answer<"GET /api/sessions/{key}/recalls">["recalls"][number];
export type Branches = Answer<"GET /api/sessions/{key}/branches">;
export type SessionInfo = Answer<"GET /api/sessions/{key}">;

const pageSize = 60;

interface Place {
  before?: number;
  after?: number;
  around?: number;
  at?: string;
  branch?: number;
}

export function readPage(key: string, place: Place): Promise<EntryPage> {
  const query = { ...place, all: "1", content: "reference", limit: pageSize };
  return call("GET /api/sessions/{key}/messages", { params: { key }, query });
}

export async function readRecalls(key: string, from: number, to: number): Promise<Recall[]> {
  return (await call("GET /api/sessions/{key}/recalls", { params: { key }, query: { from, to } })).recalls;
}

/** The sequence number of the oldest message that has the words; undefined when none has. */
export async function findFirst(key: string, words: string): Promise<number | undefined> {
  const { matches } = await call("GET /api/grep", {
    query: { pattern: words, mode: "full_text", scope: "messages", session: key, limit: 200 },
  });
  const seqs = matches.map(({ citation }) => Number(/^msg#(\d+)$/.exec(citation)?.[1])).filter(Number.isFinite);
  return seqs.length === 0 ? undefined : Math.min(...seqs);
}

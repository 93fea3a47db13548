import { isJsonObject } from "../domain/index.ts";
import type { Store } from "../store/index.ts";
import type { SearchResult } from "./types.ts";

/** How many times more results are read, so that a filter by channel still leaves enough. */
export const channelSpareFactor = 5;
/** How many of the first messages of a summary are read to learn where they came from. */
const summaryMessagesRead = 20;

/**
 * The results of one channel. A key may name it (`agent:main:telegram:group:7`); in a session that several channels
 * share, each message says where it came from, and a reply belongs to the channel of the message before it.
 */
export async function filterByChannel(
  store: Store,
  agent: string,
  results: readonly SearchResult[],
  channel: string,
): Promise<SearchResult[]> {
  const wanted = channel.toLowerCase();
  const kept: SearchResult[] = [];
  for (const result of results) {
    if (result.sessionKey === null) continue;
    const named = result.sessionKey.split(":")[2];
    if (named === wanted || (await readChannels(store, agent, result)).includes(wanted)) kept.push(result);
  }
  return kept;
}

async function readChannels(store: Store, agent: string, { kind, citation }: SearchResult): Promise<string[]> {
  const seq = Number(/^msg#(\d+)/.exec(citation)?.[1]);
  if (kind === "message" && Number.isInteger(seq)) return readMessageChannel(store, agent, seq);
  if (kind !== "summary") return [];
  const summary = await store.db
    .selectFrom("summaries")
    .select(["conversation", "first_seq", "last_seq"])
    .where("agent", "=", agent)
    .where("id", "=", citation)
    .executeTakeFirst();
  if (!summary) return [];
  const rows = await store.db
    .selectFrom("entries")
    .select("payload")
    .where("agent", "=", agent)
    .where("conversation", "=", summary.conversation)
    .where("kind", "=", "user")
    .where("seq", ">=", summary.first_seq)
    .where("seq", "<=", summary.last_seq)
    .orderBy("seq")
    .limit(summaryMessagesRead)
    .execute();
  return rows.flatMap((row) => parseChannel(row.payload));
}

/** The channel of a message, or of the newest message of a person before it. */
async function readMessageChannel(store: Store, agent: string, seq: number): Promise<string[]> {
  const row = await store.db
    .selectFrom("entries as own")
    .innerJoin("entries as said", (join) =>
      join.onRef("said.agent", "=", "own.agent").onRef("said.conversation", "=", "own.conversation"),
    )
    .select("said.payload")
    .where("own.agent", "=", agent)
    .where("own.seq", "=", seq)
    .where("said.kind", "=", "user")
    .where("said.seq", "<=", seq)
    .orderBy("said.seq", "desc")
    .limit(1)
    .executeTakeFirst();
  return row === undefined ? [] : parseChannel(row.payload);
}

function parseChannel(payload: string): string[] {
  const value: unknown = JSON.parse(payload);
  const message = isJsonObject(value) && isJsonObject(value.message) ? value.message : value;
  const meta = isJsonObject(message) && isJsonObject(message.meta) ? message.meta : {};
  return typeof meta.channel === "string" ? [meta.channel.toLowerCase()] : [];
}

import { hasOwners, localChannel, type Owners, runAsEngine } from "../authorization/index.ts";
import type { Config } from "../config/index.ts";
import { isJsonObject, parseSessionKey } from "../domain/index.ts";
import { prepareQuery, type Store } from "../store/index.ts";
import { addOwner, mergeOwners, ownerRows, readOwners } from "./owner-rows.ts";

/**
 * Before owners were rows, everybody's direct chats were one conversation. Migration 20 notes the agents that have one;
 * the first address of such an agent finds out whether a single person wrote to it, who is the owner then.
 */
const unknownOwnerPrefix = "owner_unknown ";

const pageRows = 1_000;

const unknownOwner = prepareQuery((db, { name }: { name: string }) =>
  db.selectFrom("meta").select("value").where("name", "=", name),
);

/** The owners of an agent, for an address of it. */
export async function readOwnersToRoute(store: Store, config: Config, agent: string): Promise<Owners> {
  const name = `${unknownOwnerPrefix}${agent}`;
  const queries = [ownerRows(store.db, { agent }), unknownOwner(store.db, { name })] as const;
  const [rows, unknown] = await store.readBatch(queries);
  if (unknown.length === 0 || config.session.dmScope !== "auto") return mergeOwners(config, rows);
  await settleUnknownOwner(store, config, agent);
  return readOwners(store, config, agent);
}

/** Names the owner of an agent whose main session has messages of one sender only; nobody when that is not certain. */
function settleUnknownOwner(store: Store, config: Config, agent: string): Promise<void> {
  return runAsEngine(async () => {
    const sender = hasOwners(config.turn.owners) ? undefined : await findOnlySender(store, agent);
    if (sender !== undefined) await addOwner(store, { agent, ...sender, by: "upgrade" });
    await store.transaction(({ db }) =>
      db.deleteFrom("meta").where("name", "=", `${unknownOwnerPrefix}${agent}`).execute(),
    );
  });
}

interface Sender {
  channel: string;
  id: string;
}

/** The sender of all messages that people wrote to the main sessions of an agent. */
async function findOnlySender(store: Store, agent: string): Promise<Sender | undefined> {
  let only: Sender | undefined;
  for await (const sender of readMainSenders(store, agent)) {
    if (sender === undefined) return undefined;
    only ??= sender;
    if (only.channel !== sender.channel || only.id !== sender.id) return undefined;
  }
  return only;
}

/** The people who wrote to the main sessions of an agent, at most `limit` of them. */
export async function listMainSenders(store: Store, agent: string, limit: number): Promise<Sender[]> {
  const found = new Map<string, Sender>();
  for await (const sender of readMainSenders(store, agent)) {
    if (sender !== undefined) found.set(JSON.stringify([sender.channel, sender.id]), sender);
    if (found.size >= limit) break;
  }
  return [...found.values()];
}

/** The senders of the messages in the main sessions of an agent, one for each message; undefined where none is named. */
async function* readMainSenders({ db }: Store, agent: string): AsyncGenerator<Sender | undefined, void, undefined> {
  const rows = await db
    .selectFrom("conversations")
    .select(["id", "key"])
    .where("agent", "=", agent)
    .where("audience", "is", null)
    .where("key", "like", "agent:%")
    .execute();
  for (const { id } of rows.filter(({ key }) => isMainKey(key))) {
    for (let after = 0; ; ) {
      const page = await db
        .selectFrom("entries")
        .select(["seq", "payload"])
        .where("agent", "=", agent)
        .where("conversation", "=", id)
        .where("kind", "=", "user")
        .where("seq", ">", after)
        .orderBy("seq")
        .limit(pageRows)
        .execute();
      for (const { payload } of page) {
        const meta = readMeta(payload);
        // A heartbeat or a scheduled job was not written by anybody.
        if (typeof meta.kind === "string") continue;
        const channel = typeof meta.channel === "string" ? meta.channel.toLowerCase() : localChannel;
        yield typeof meta.sender === "string" && meta.sender !== "" ? { channel, id: meta.sender } : undefined;
      }
      after = Number(page.at(-1)?.seq ?? 0);
      if (page.length < pageRows) break;
    }
  }
}

function isMainKey(key: string): boolean {
  try {
    return parseSessionKey(key).kind === "main";
  } catch {
    // A key that kept an earlier spelling is not that of a main session.
    return false;
  }
}

function readMeta(payload: string): Record<string, unknown> {
  const { meta } = JSON.parse(payload) as { meta?: unknown };
  return isJsonObject(meta) ? meta : {};
}

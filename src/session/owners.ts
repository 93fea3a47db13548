import {
  type Audience,
  hasOwners,
  isOwnersChat,
  isPersonal,
  isProxyClient,
  localChannel,
  type Owners,
  type Peer,
  parsePerson,
  resolveAudience,
} from "../authorization/index.ts";
import type { Config } from "../config/index.ts";
import { foldCase, VarveError } from "../domain/index.ts";
import type { Store } from "../store/index.ts";
import { addOwner, checkOwner, readOwners } from "./owner-rows.ts";
import type { Session } from "./session.ts";

/** The owner's id in a channel. */
export interface Owner {
  channel: string;
  id: string;
  /** Who added it; absent for one of the settings (`turn.owners`), which is changed there. */
  addedBy?: string;
  addedAt?: number;
}

/** Somebody who writes to the agent and is neither named as the owner nor linked to anybody. */
export interface UnknownPerson {
  channel?: string;
  id: string;
  /** The name that the channel gave. */
  name?: string;
  /** Their conversation, and when it began. */
  key: string;
  since: number;
}

/** Who the owner of an agent is: rows of the database, with those of the settings. Changes hold at once everywhere. */
export interface OwnerService {
  list(agent?: string): Promise<Owner[]>;
  /** Names an id as the owner's. Nothing moves: what it said so far stays in its own session, which the owner reaches. */
  add(owner: { channel: string; id: string; agent?: string; by?: string }): Promise<Owner>;
  /** Returns whether the id was named in the database. */
  remove(owner: { channel: string; id: string; agent?: string }): Promise<boolean>;
  /**
   * The newest people who may be the owner without being named, in channels in which no id is the owner's: everybody while
   * no owner is named at all, and those of the last week after that. None for an agent without an owner's chat.
   */
  listUnknown(agent?: string): Promise<UnknownPerson[]>;
  /** Makes a session the owner's that was recorded without knowing whose it is. */
  claim(key: string, agent?: string): Promise<void>;
}

export function createOwnerService(store: Store, config: Config): OwnerService {
  const own = (agent: string | undefined) => agent ?? config.agent;
  return {
    async list(agent) {
      const rows = await store.db
        .selectFrom("owners")
        .selectAll()
        .where("agent", "=", own(agent))
        .orderBy("added_at")
        .execute();
      const configured = Object.entries(config.turn.owners).flatMap(([channel, ids]) =>
        ids.map((id) => ({ channel: foldCase(channel), id })),
      );
      const added = rows.map((row) => ({
        channel: row.channel,
        id: row.peer,
        addedBy: row.added_by,
        addedAt: row.added_at,
      }));
      return [...configured, ...added];
    },
    async add({ channel, id, agent, by = "owner" }) {
      const named = checkOwner(channel, id);
      await addOwner(store, { agent: own(agent), channel, id, by });
      const owners = await this.list(agent);
      const row = owners.find((one) => one.channel === named.channel && one.id === named.peer);
      return row ?? { channel: named.channel, id: named.peer };
    },
    async remove({ channel, id, agent }) {
      const named = checkOwner(channel, id);
      const result = await store.transaction(({ db }) =>
        db
          .deleteFrom("owners")
          .where("agent", "=", own(agent))
          .where("channel", "=", named.channel)
          .where("peer", "=", named.peer)
          .executeTakeFirst(),
      );
      return Number(result.numDeletedRows) > 0;
    },
    listUnknown: (agent) => listUnknown(store, config, own(agent)),
    claim: (key, agent) => claimSession(store, own(agent), key),
  };
}

const unknownMax = 20;
const newMs = 7 * 86_400_000;

async function listUnknown(store: Store, config: Config, agent: string): Promise<UnknownPerson[]> {
  if (!isPersonal(config.session.dmScope)) return [];
  const owners = await readOwners(store, config, agent);
  const since = hasOwners(owners) ? store.clock.now() - newMs : 0;
  const rows = await store.db
    .selectFrom("sessions")
    .select(["key", "audience", "conversation", "created_at"])
    .where("agent", "=", agent)
    .where("audience", "like", "user:%")
    .where("parent_key", "is", null)
    .where("created_at", ">=", since)
    .orderBy("created_at", "desc")
    .limit(unknownMax * 5)
    .execute();
  const found = new Map<string, (typeof rows)[number] & { peer: Peer }>();
  for (const row of rows) {
    const peer = row.audience === null ? undefined : toUnknownPeer(config, owners, row.audience);
    // The last one is that of their first conversation.
    if (peer && row.audience !== null) found.set(row.audience, { ...row, peer });
  }
  const people = [...found.values()].slice(0, unknownMax);
  return Promise.all(
    people.map(async ({ peer: { channel, peer: id }, key, conversation, created_at: since }) => {
      const name = await readSpeakerName(store, agent, conversation);
      return { ...(channel === undefined ? {} : { channel }), ...(name === undefined ? {} : { name }), id, key, since };
    }),
  );
}

/**
 * The person of an audience who may be the owner without being named: neither linked, nor a client of the model proxy, nor
 * in a channel in which the owner's id is known.
 */
function toUnknownPeer(config: Config, owners: Owners, audience: Audience): Peer | undefined {
  const peer = isProxyClient(audience) ? undefined : parsePerson(audience);
  if (!peer || isOwnersChat(config, owners, audience)) return undefined;
  const channel = peer.channel ?? localChannel;
  if (Object.entries(owners).some(([name, ids]) => foldCase(name) === channel && ids.length > 0)) return undefined;
  const { identityLinks } = config.session;
  const person = parsePerson(resolveAudience(audience, identityLinks));
  return person?.channel === undefined && person && Object.hasOwn(identityLinks, person.peer) ? undefined : peer;
}

/** The name that the channel gave with the first message. */
async function readSpeakerName({ db }: Store, agent: string, conversation: number): Promise<string | undefined> {
  const row = await db
    .selectFrom("entries")
    .select("payload")
    .where("agent", "=", agent)
    .where("conversation", "=", conversation)
    .where("kind", "=", "user")
    .orderBy("seq")
    .limit(1)
    .executeTakeFirst();
  const { name } = row ? (JSON.parse(row.payload) as { name?: unknown }) : {};
  return typeof name === "string" ? name : undefined;
}

/** Whether a session that was just created is the first one of somebody unknown. */
export async function isNewPerson(
  store: Store,
  config: Config,
  { agent, key, audience, parentKey }: Session,
): Promise<boolean> {
  if (audience === undefined || parentKey !== undefined || !isPersonal(config.session.dmScope)) return false;
  if (!toUnknownPeer(config, await readOwners(store, config, agent), audience)) return false;
  const other = await store.db
    .selectFrom("sessions")
    .select("key")
    .where("agent", "=", agent)
    .where("audience", "=", audience)
    .where("key", "!=", key)
    .limit(1)
    .executeTakeFirst();
  return other === undefined;
}

/** Only conversations of nobody can be claimed: a person's stay theirs. */
async function claimSession(store: Store, agent: string, key: string): Promise<void> {
  await store.transaction(async ({ db }) => {
    const row = await db
      .selectFrom("sessions")
      .select(["audience", "conversation"])
      .where("agent", "=", agent)
      .where("key", "=", key)
      .executeTakeFirst();
    if (!row) {
      throw new VarveError("SESSION_NOT_FOUND", `There is no session ${key} of agent ${agent}.`, {
        remedy: "`varve doctor` lists the sessions that wait for a confirmation.",
      });
    }
    if (row.audience === null) return;
    if (!/^(?:session:|user:proxy:)/.test(row.audience)) {
      throw new VarveError("REFUSED", `The session ${key} belongs to ${row.audience}.`, {
        remedy: "Name the owner's id with `varve owner add CHANNEL ID`; what others said stays theirs.",
      });
    }
    await db
      .updateTable("sessions")
      .set({ audience: null })
      .where("agent", "=", agent)
      .where("conversation", "=", row.conversation)
      .execute();
    await db
      .updateTable("conversations")
      .set({ audience: null })
      .where("agent", "=", agent)
      .where("key", "=", key)
      .where("audience", "=", row.audience)
      .execute();
  });
}

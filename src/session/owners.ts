import { hasOwners, isOwnersChat, isPersonal, isProxyClient, parsePerson } from "../authorization/index.ts";
import type { Config } from "../config/index.ts";
import { foldCase, VarveError } from "../domain/index.ts";
import type { Store } from "../store/index.ts";
import { addOwner, checkOwner, readOwners } from "./owner-rows.ts";

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
   * The newest people who may be the owner without being named: everybody unknown while no owner is named, and those of
   * the last week after that. None for an agent without an owner's chat.
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
  const { identityLinks, dmScope } = config.session;
  if (!isPersonal(dmScope)) return [];
  const owners = await readOwners(store, config, agent);
  const since = hasOwners(owners) ? store.clock.now() - newMs : 0;
  const rows = await store.db
    .selectFrom("sessions")
    .select(["key", "audience", "display_name", "created_at"])
    .where("agent", "=", agent)
    .where("audience", "like", "user:%")
    .where("parent_key", "is", null)
    .where("created_at", ">=", since)
    .orderBy("created_at", "desc")
    .limit(unknownMax * 5)
    .execute();
  const found = new Map<string, UnknownPerson>();
  for (const { key, audience, display_name: name, created_at } of rows) {
    const person = audience === null || isProxyClient(audience) ? undefined : parsePerson(audience);
    if (audience === null || !person || isOwnersChat(config, owners, audience)) continue;
    if (person.channel === undefined && Object.hasOwn(identityLinks, person.peer)) continue;
    const { channel, peer: id } = person;
    found.set(audience, {
      ...(channel === undefined ? {} : { channel }),
      ...(name === null ? {} : { name }),
      ...{ id, key, since: created_at },
    });
  }
  return [...found.values()].slice(0, unknownMax);
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

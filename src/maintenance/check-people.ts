import { isOwnersChat, isPersonal, printOwnerCommand, printPeerName } from "../authorization/index.ts";
import type { LoadedConfig } from "../config/index.ts";
import { foldCase, parseSessionKey, printStoredKey } from "../domain/index.ts";
import { findMisplacedMemories, type MisplacedMemory, moveMemories } from "../memory/index.ts";
import { createOwnerService, listMainSenders, readOwners } from "../session/index.ts";
import type { Store } from "../store/index.ts";
import type { Finding } from "../transcript/index.ts";

interface Checked {
  store: Store;
  loaded: LoadedConfig;
}

export const misplacedCheck = "no memory of the owner's was learned from somebody else";
const peopleCheck = "everybody who writes is known as the owner or has a conversation of their own";
const shownMax = 20;
const pageRows = 1_000;

/** Who writes to each agent: what is wrong, and what only the owner can decide. */
export async function checkPeople({ store, loaded }: Checked): Promise<Finding[]> {
  const misplaced: string[] = [];
  let memories = 0;
  const notes: string[] = [];
  const agents = await listAgents(store);
  for (const agent of agents) {
    for (const [scope, count] of countByScope(await findMisplaced({ store, loaded }, agent))) {
      memories += count;
      misplaced.push(`agent ${agent}: ${count} in agent:${agent} were learned from ${scope}`);
    }
    notes.push(...(await describePeople({ store, loaded }, agent)), ...(await describeKeys(store, agent)));
  }
  return [
    { check: misplacedCheck, faults: misplaced, checked: memories, fixable: true },
    { check: peopleCheck, faults: [], notes, checked: agents.length, fixable: false },
  ];
}

/** Moves memories of other people out of the scope of the owner; returns what was done. */
export async function moveMisplaced({ store, loaded }: Checked): Promise<string> {
  let moved = 0;
  for (const agent of await listAgents(store)) {
    const found = await findMisplaced({ store, loaded }, agent);
    await moveMemories(store, agent, found);
    moved += found.length;
  }
  return `${moved} memories moved to the people they were learned from`;
}

async function findMisplaced({ store, loaded }: Checked, agent: string): Promise<MisplacedMemory[]> {
  const { config } = loaded;
  // A shared agent has no scope of the owner's.
  if (!isPersonal(config.session.dmScope) || config.recall.visibility === "agent") return [];
  const owners = await readOwners(store, config, agent);
  return findMisplacedMemories(store, agent, (audience) => isOwnersChat(config, owners, audience));
}

function countByScope(misplaced: readonly MisplacedMemory[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { belongsTo } of misplaced) counts.set(belongsTo, (counts.get(belongsTo) ?? 0) + 1);
  return counts;
}

async function listAgents({ db }: Store): Promise<string[]> {
  const rows = await db.selectFrom("conversations").select("agent").distinct().orderBy("agent").execute();
  return rows.map(({ agent }) => agent);
}

/** People whom nobody has named, several who shared the main session, and sessions that wait for a confirmation. */
async function describePeople({ store, loaded }: Checked, agent: string): Promise<string[]> {
  const service = createOwnerService(store, loaded.config);
  const unknown = (await service.listUnknown(agent)).map(
    ({ channel, id, key }) =>
      `${printPeerName({ channel, peer: id })} wrote in ${key}: if that is you, run ` +
      `\`${printOwnerCommand({ channel, peer: id }, agent)}\`; ` +
      `to go on from the main session there, \`varve sessions fork\``,
  );
  const senders = isPersonal(loaded.config.session.dmScope) ? await listMainSenders(store, agent, shownMax) : [];
  const shared =
    senders.length < 2
      ? []
      : [
          `several people wrote to the main session of ${agent}: ${senders.map(({ channel, id }) => `${channel}:${id}`).join(", ")}; ` +
            "it stays the owner's, and each has a session of their own from now on",
        ];
  const alone = await store.db
    .selectFrom("sessions")
    .select("key")
    .where("agent", "=", agent)
    .where("audience", "like", "session:%")
    .where("door", "is", null)
    .limit(shownMax)
    .execute();
  const claims = alone.map(
    ({ key }) => `${key} was recorded from an unknown program: if it was yours, run \`varve owner claim ${key}\``,
  );
  return [...unknown, ...shared, ...claims].slice(0, shownMax);
}

/** Keys that kept an earlier spelling, and those that differ only in case. */
async function describeKeys({ db }: Store, agent: string): Promise<string[]> {
  const notes: string[] = [];
  const folded = new Map<string, string>();
  for (let after = ""; ; ) {
    const rows = await db
      .selectFrom("sessions")
      .select("key")
      .where("agent", "=", agent)
      .where("key", ">", after)
      .orderBy("key")
      .limit(pageRows)
      .execute();
    for (const { key } of rows) {
      if (!isPrinted(key)) notes.push(`${key} keeps the spelling of an earlier version`);
      const other = folded.get(foldCase(key));
      if (other !== undefined) notes.push(`${other} and ${key} differ only in case: they are two people`);
      folded.set(foldCase(key), key);
    }
    after = rows.at(-1)?.key ?? "";
    if (rows.length < pageRows) return notes.slice(0, shownMax);
  }
}

function isPrinted(key: string): boolean {
  try {
    return printStoredKey(parseSessionKey(key)) === key;
  } catch {
    return false;
  }
}

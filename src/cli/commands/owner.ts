import { printOwnerCommand } from "../../authorization/index.ts";
import { foldCase, VarveError } from "../../domain/index.ts";
import type { UnknownPerson, Varve } from "../../index.ts";
import { type CommonOptions, withVarve } from "../context.ts";
import { type Output, table, when } from "../output.ts";

const remains = "What was said under this id so far stays in its own session, which the owner's searches reach.";

export async function addOwnerCommand(channel: string, id: string, flags: CommonOptions): Promise<void> {
  await withVarve(flags, async (varve, output) => {
    const added = await varve.owners.add({ channel, id });
    output.say(`${added.channel} ${added.id} is the owner of ${varve.settings.config.agent}. ${remains}`);
    output.result(await readPeople(varve));
  });
}

export async function listOwnersCommand(flags: CommonOptions): Promise<void> {
  await withVarve(flags, async (varve, output) => {
    const people = await readPeople(varve);
    showPeople(output, people, flags.agent);
    output.result(people);
  });
}

export async function removeOwnerCommand(channel: string, id: string, flags: CommonOptions): Promise<void> {
  await withVarve(flags, async (varve, output) => {
    const wasRemoved = await varve.owners.remove({ channel, id });
    const owners = await varve.owners.list();
    const isConfigured = owners.some((one) => one.channel === foldCase(channel) && one.id === id);
    if (isConfigured) throw configuredOwner(channel, id, wasRemoved);
    if (!wasRemoved) throw unknownOwner(channel, id);
    output.say(`${channel} ${id} is no longer the owner of ${varve.settings.config.agent}.`);
    output.result(await readPeople(varve));
  });
}

export async function claimSessionCommand(name: string, flags: CommonOptions): Promise<void> {
  await withVarve(flags, async (varve, output) => {
    const { key, agent } = await varve.sessions.get(name, flags.agent);
    await varve.owners.claim(key, agent);
    output.say(`The session ${key} belongs to the owner of ${agent}.`);
    output.result(await readPeople(varve));
  });
}

async function readPeople({ owners }: Varve) {
  return { owners: await owners.list(), unknown: await owners.listUnknown() };
}

function showPeople(
  output: Output,
  { owners, unknown }: Awaited<ReturnType<typeof readPeople>>,
  agent: string | undefined,
): void {
  const rows = owners.map(({ channel, id, addedBy = "turn.owners", addedAt }) => [
    channel,
    id,
    addedBy,
    addedAt === undefined ? "" : when(addedAt),
  ]);
  output.show(
    rows.length === 0
      ? "No owner is named. `varve owner add CHANNEL ID` names an id of yours, such as telegram 5054873275."
      : table(["CHANNEL", "ID", "ADDED BY", "SINCE"], rows),
  );
  if (unknown.length === 0) return;
  output.show(`\nThese people wrote and are not known. The command makes one of them the owner:`);
  for (const person of unknown) output.show(`  ${describeUnknown(person, agent)}`);
}

const shownMax = 120;

/** Who wrote, and the command that makes them the owner. */
export function describeUnknown({ channel, id, name, since }: UnknownPerson, agent: string | undefined): string {
  const who = [name, channel === undefined ? id : `${channel} ${id}`].filter(Boolean).join(", ");
  // Names and ids of strangers stay on one line.
  return `${who.slice(0, shownMax).replaceAll(/\s+/g, " ")}, since ${when(since)}: ${printOwnerCommand({ channel, peer: id }, agent)}`;
}

function configuredOwner(channel: string, id: string, wasRemoved: boolean): VarveError {
  const done = wasRemoved ? " The entry of `varve owner add` was removed." : "";
  return new VarveError("REFUSED", `${channel} ${id} is an owner by the setting turn.owners.${done}`, {
    remedy: "Remove it from turn.owners in config.yaml, or with `varve config set turn.owners`.",
  });
}

function unknownOwner(channel: string, id: string): VarveError {
  return new VarveError("NOT_FOUND", `${channel} ${id} is not an owner.`, {
    remedy: "`varve owner list` shows the owners.",
  });
}

import { parsePerson, printOwnerCommand } from "../authorization/index.ts";
import { showControls } from "../domain/index.ts";
import type { EngineEvent } from "../index.ts";

const shownMax = 120;

/** Who wrote for the first time and how to make them the owner, as a terminal may show it; nothing for other events. */
export function describeUnknownPerson(event: EngineEvent, ownAgent: string): { person?: string; command?: string } {
  if (event.type !== "person.unknown") return {};
  const { audience, name } = event.data;
  const person = parsePerson(audience);
  if (person === undefined) return {};
  const id = person.channel === undefined ? person.peer : `${person.channel} ${person.peer}`;
  const who = [name, id].filter(Boolean).join(", ").slice(0, shownMax).replaceAll(/\s+/g, " ");
  const command = printOwnerCommand(person, event.agent === ownAgent ? undefined : event.agent);
  return { person: showControls(who), command: showControls(command) };
}

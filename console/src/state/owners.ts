/** Who the owner is, for those who may change it. */
import { type Answer, call } from "../api/client.ts";
import { isUnlimited } from "../api/login.ts";
import { ask } from "../ui/dialog.tsx";
import { createResource } from "./resource.ts";
import { attempt, say } from "./toasts.ts";

type People = Answer<"GET /api/owners">;
export type Owner = People["owners"][number];
export type UnknownPerson = People["unknown"][number];

export const people = createResource((abort) => call("GET /api/owners", { signal: abort }));

export async function loadPeople(): Promise<void> {
  if (isUnlimited()) await people.load();
}

/** The name of the channel for programs without one. */
const noChannel = "local";

export function printPerson({ channel = noChannel, id }: { channel?: string; id: string }): string {
  return `${id} on ${channel}`;
}

/** Asks, and names the id as the owner's; returns whether that was done. */
export async function claimId({ channel = noChannel, id }: { channel?: string; id: string }): Promise<boolean> {
  const answer = await ask({
    title: `Are you ${printPerson({ channel, id })}?`,
    text:
      "From now on, what is written there continues your own conversation, and sees all that the agent knows. " +
      "What was said so far stays in its own session, which your searches reach.",
    confirm: "This is me",
  });
  if (answer === undefined) return false;
  const done = await attempt(() => call("POST /api/owners", { body: { channel, id } }));
  if (!done) return false;
  people.set(done);
  say(
    `${printPerson({ channel, id })} is you. What was said so far stays in its own session, which your searches reach.`,
  );
  return true;
}

export async function removeOwner({ channel, id }: Owner): Promise<void> {
  const answer = await ask({
    title: `Is ${printPerson({ channel, id })} not you?`,
    text: "The next message from there opens a session of its own, which does not see what you told the agent.",
    confirm: "Remove",
    isDangerous: true,
  });
  if (answer === undefined) return;
  const done = await attempt(() => call("DELETE /api/owners", { query: { channel, id } }));
  if (!done) return;
  people.set(done);
  say(`${printPerson({ channel, id })} is no longer you.`);
}

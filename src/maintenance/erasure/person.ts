import { type IdentityLinks, isPerson, listAudiences } from "../../authorization/index.ts";
import { VarveError } from "../../domain/index.ts";
import type { Store } from "../../store/index.ts";

/** A person: every form of their id, as `peer` or `channel:peer`, in lower case. */
export interface Person {
  forms: readonly string[];
  /** The audiences of their conversations, and their memory scopes. */
  audiences: readonly string[];
}

/**
 * Resolves the id of a person through identity links and the conversations in the store. An id without a channel is
 * refused when it belongs to chats of several channels that no link connects: they may be different people.
 */
export async function resolvePerson({ db }: Store, id: string, links: IdentityLinks): Promise<Person> {
  const given = id
    .trim()
    .toLowerCase()
    .replace(/^user:/, "");
  if (given === "") {
    throw new VarveError("BAD_REQUEST", "The id of the person is empty.", {
      remedy:
        "Name a person as their channel does, such as telegram:5054873275, or by a name of session.identityLinks.",
    });
  }
  const canonical = Object.entries(links).find(
    ([name, peers]) => name.toLowerCase() === given || peers.some((peer) => peer.toLowerCase() === given),
  )?.[0];
  const linked = listAudiences(`user:${(canonical ?? given).toLowerCase()}`, links);
  const stored = await db
    .selectFrom("conversations")
    .select("audience")
    .distinct()
    .where("audience", "like", "user:%")
    .execute();
  const forms = [...new Set([given, ...linked.map(stripScope)])];
  const found = stored
    .flatMap(({ audience }) => (audience !== null && isPerson(audience) ? [audience] : []))
    .filter((audience) => isFormOf(stripScope(audience), forms));
  const channels = new Set(found.filter((audience) => !linked.includes(audience)).map((one) => one.split(":")[1]));
  if (canonical === undefined && !given.includes(":") && channels.size > 1) throw ambiguous(given, found);
  return { forms, audiences: [...new Set([...linked, ...found, ...forms.map((form) => `user:${form}`)])] };
}

function stripScope(audience: string): string {
  return audience.slice("user:".length);
}

/** Whether a stored name is one of the forms; a form without a channel stands for the peer in every channel. */
function isFormOf(name: string, forms: readonly string[]): boolean {
  const peer = name.slice(name.indexOf(":") + 1);
  return forms.includes(name) || forms.includes(peer);
}

/** Whether a sender in a channel is the person. */
export function isSender({ forms }: Person, channel: string | undefined, sender: string): boolean {
  const peer = sender.toLowerCase();
  return forms.includes(peer) || forms.includes(`${channel?.toLowerCase() ?? ""}:${peer}`);
}

/** The peers without their channels, as they appear in messages. */
export function listPeers({ forms }: Person): string[] {
  return [...new Set(forms.flatMap((form) => [form, form.slice(form.indexOf(":") + 1)]))];
}

function ambiguous(id: string, found: readonly string[]): VarveError {
  const names = found.map(stripScope).join(", ");
  return new VarveError("AMBIGUOUS", `${JSON.stringify(id)} belongs to chats of several channels: ${names}.`, {
    remedy: "Name one of them with its channel, or connect them in session.identityLinks if they are one person.",
    details: { found },
  });
}

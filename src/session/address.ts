import { findNearestName } from "../config/index.ts";
import { type RoomType, type ThreadRef, VarveError } from "../domain/index.ts";

/**
 * Where a message comes from. `{}` and `{ agent }` are the owner's own conversation. `key` names the session directly and
 * takes precedence over everything else.
 */
export interface Address {
  agent?: string;
  key?: string;
  channel?: string;
  account?: string;
  /** The id of the person in the channel. A thread, a chat or a run is not a person: it is a `thread` of one. */
  peer?: string;
  group?: { type: RoomType; id: string; thread?: ThreadRef };
  /** A thread of a direct chat. */
  thread?: ThreadRef;
  /** Whether the owner of the agent speaks, whatever the channel calls them. */
  owner?: boolean;
}

const known: ReadonlySet<string> = new Set([
  ...["agent", "key", "channel", "account", "peer", "group", "thread", "owner"],
]);
const rooms: ReadonlySet<unknown> = new Set(["group", "channel", "room"]);
const threads: ReadonlySet<unknown> = new Set(["thread", "topic"]);

/** Throws `BAD_REQUEST` for an address that names nobody, or whose fields are not known: it must not become another's. */
export function checkAddress(address: Address): void {
  if (typeof address !== "object" || address === null) {
    throw badAddress(
      "An address is an object.",
      'Send { channel: "telegram", peer: "5054873275" }, or {} for the owner.',
    );
  }
  const given = Object.keys(address);
  const unknown = given.find((name) => !known.has(name));
  if (unknown !== undefined) {
    throw badAddress(`${JSON.stringify(unknown)} is not a field of an address.`, suggest(unknown));
  }
  for (const name of ["agent", "key", "channel", "account"] as const) {
    const value = address[name];
    if (value !== undefined && (typeof value !== "string" || value === "")) throw empty(name, value);
  }
  if (address.owner !== undefined && typeof address.owner !== "boolean") throw empty("owner", address.owner);
  if (given.includes("peer") && (typeof address.peer !== "string" || address.peer === "")) {
    const { peer }: { peer?: unknown } = address;
    const isMissing = peer === "" || peer === undefined || peer === null;
    throw badAddress(
      isMissing ? `peer is ${peer === "" ? "empty" : String(peer)}: nobody is named.` : "peer is not a text.",
      "Send the id of the person who speaks as a text, or owner: true when it is the owner. A missing login must not be anybody.",
    );
  }
  const { group, thread } = address;
  if (group !== undefined && (typeof group?.id !== "string" || group.id === "" || !rooms.has(group.type))) {
    throw badAddress(
      "group has no type or no id.",
      'Send group: { type: "group", id: "…" }; types are group, channel and room.',
    );
  }
  for (const [name, one] of [
    ["thread", thread],
    ["group.thread", group?.thread],
  ] as const) {
    if (one !== undefined && (typeof one?.id !== "string" || one.id === "" || !threads.has(one.type))) {
      throw badAddress(`${name} has no type or no id.`, `Send ${name}: { type: "thread", id: "…" }.`);
    }
  }
  const names =
    address.key !== undefined || address.peer !== undefined || group !== undefined || address.owner === true;
  const place = (["channel", "account", "thread"] as const).find((name) => address[name] !== undefined);
  if (!names && place !== undefined) {
    throw badAddress(
      `${place} is given, but no peer: nobody is named.`,
      "Send peer, the id of the person who speaks; group for a group; or owner: true when the owner speaks.",
    );
  }
}

function suggest(unknown: string): string {
  const close = findNearestName(unknown, [...known]);
  const all = `The fields are ${[...known].join(", ")}.`;
  return close === undefined ? all : `Did you mean ${close}? ${all}`;
}

function empty(name: string, value: unknown): VarveError {
  return badAddress(`${name} is ${value === "" ? "empty" : JSON.stringify(value)}.`, `Send ${name}, or leave it out.`);
}

function badAddress(message: string, remedy: string): VarveError {
  return new VarveError("BAD_REQUEST", message, { remedy });
}

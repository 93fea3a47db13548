import { isJsonObject, type JsonObject } from "../../../domain/index.ts";
import { readObject } from "../record.ts";

/** An id that the settings of OpenClaw name as the owner's. */
export interface HomeOwner {
  channel: string;
  id: string;
  /** The setting that names it. */
  setting: string;
}

/** Names of channels within ids that differ from the channel's own. */
const shortNames: Readonly<Record<string, string>> = { tg: "telegram" };
const anybody = "*";

/**
 * The owner's ids: those of `commands.ownerAllowFrom`; without them, the only id that a channel admits, where all direct
 * chats share the main session. Several admitted ids may be several people.
 */
export function readHomeOwners(settings: JsonObject): HomeOwner[] {
  const setting = "commands.ownerAllowFrom";
  const named = listIds(readObject(settings, "commands")?.ownerAllowFrom).flatMap((text): HomeOwner[] => {
    const { channel, id } = splitId(text);
    return channel === undefined || id === anybody ? [] : [{ channel, id, setting }];
  });
  if (named.length > 0) return named;
  const dmScope = readObject(settings, "session")?.dmScope;
  if (dmScope !== undefined && dmScope !== "main") return [];
  return Object.entries(readObject(settings, "channels") ?? {}).flatMap(([channel, value]): HomeOwner[] => {
    const [only, ...others] = isJsonObject(value) ? listIds(value.allowFrom) : [];
    if (only === undefined || others.length > 0) return [];
    const { id } = splitId(only);
    return id === anybody ? [] : [{ channel, id, setting: `channels.${channel}.allowFrom` }];
  });
}

function listIds(value: unknown): string[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((one) => (typeof one === "string" || typeof one === "number" ? [String(one).trim()] : []));
}

/** `telegram:5054873275`, `tg:5054873275`, `discord:user:5`, `user:5` */
function splitId(text: string): { channel?: string; id: string } {
  const [, prefix = "", rest = ""] = /^([a-z][a-z0-9-]*):(.+)$/i.exec(text) ?? [];
  if (rest === "") return { id: text };
  const name = prefix.toLowerCase();
  if (name === "user") return { id: rest };
  return { channel: shortNames[name] ?? name, id: rest.replace(/^user:/i, "") };
}

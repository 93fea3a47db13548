import {
  type Belonging,
  getPeerAudience,
  groupOwners,
  isNobodys,
  isOwnersChat,
  listAudiences,
  type Owners,
  type Principal,
  resolveAudience,
} from "../authorization/index.ts";
import { parseSessionKey, VarveError } from "../domain/index.ts";
import type { Session, Varve } from "../index.ts";

/**
 * Who speaks in the conversations of a host. A thread, a chat or a run is not a person. With neither `peer` nor `owner`,
 * a conversation belongs to nobody and sees only itself.
 */
export interface SpeakerOptions {
  /** The id of the person who speaks. Undefined, null and an empty id are refused: a missing login is nobody's. */
  peer?: string;
  /** Where the person has this id; `app` when absent. */
  channel?: string;
  /** Whether the owner of the agent speaks, as in a program of one's own. */
  owner?: boolean;
}

/** Whether a session is the speaker's: to be opened, somebody else's, or refused because it is not known whose it is. */
export type Ownership = "own" | "foreign" | "refused";

/** Who speaks, after identity links and the owners of the agent. */
export interface Speaker {
  /** Whom new sessions belong to. */
  belongsTo: Belonging;
  /**
   * What tells the speaker's sessions apart from those of another person whose host gave a conversation the same name.
   * Several after identity links changed, the current one first; none for nobody, whose conversations have names only.
   */
  marks: readonly string[];
  judge(session: Session): Ownership;
  /** Resolves the principal of the speaker; undefined for nobody. */
  resolvePrincipal(): Promise<Principal | undefined>;
}

/** The fields that say who speaks, as they were given: a peer that is present without an id stays so. */
export function pickSpeaker(options: SpeakerOptions): SpeakerOptions {
  return {
    ...("peer" in options ? { peer: options.peer } : {}),
    ...(options.channel === undefined ? {} : { channel: options.channel }),
    ...(options.owner === undefined ? {} : { owner: options.owner }),
  };
}

/** Whether it is said who speaks. */
function hasSpeaker(options: object): boolean {
  return "peer" in options || ("owner" in options && options.owner === true);
}

/** Throws `BAD_REQUEST` for a peer without an id, and for a channel without a peer. */
export function checkSpeaker(options: { peer?: unknown; channel?: unknown; owner?: unknown }): void {
  const { peer, channel, owner } = options;
  if ("peer" in options && (typeof peer !== "string" || peer === "")) {
    throw new VarveError("BAD_REQUEST", `peer is ${peer === "" ? "empty" : String(peer)}: nobody is named.`, {
      remedy:
        "Pass the id of the person who speaks, or owner: true when it is the owner. A missing login must not be anybody.",
    });
  }
  if (owner !== undefined && typeof owner !== "boolean") {
    throw new VarveError("BAD_REQUEST", `owner is ${JSON.stringify(owner)}.`, {
      remedy: "Pass owner: true, or leave it out.",
    });
  }
  if (channel !== undefined && !hasSpeaker(options)) {
    throw new VarveError("BAD_REQUEST", "channel is given, but no peer: nobody is named.", {
      remedy: "Pass peer, the id of the person who speaks; or owner: true when the owner speaks.",
    });
  }
}

const channelDefault = "app";

/** The address of who speaks; undefined for nobody. */
export function toSpeakerAddress(
  options: SpeakerOptions,
): { channel: string; peer?: string; owner?: true } | undefined {
  checkSpeaker(options);
  const { peer, channel = channelDefault, owner } = options;
  if (owner === true) return { channel, ...(peer === undefined ? {} : { peer }), owner };
  return peer === undefined ? undefined : { channel, peer };
}

/** Finds out who speaks: the owner, also under an id that is named as theirs; a person; or nobody. */
export async function resolveSpeaker(varve: Varve, agent: string, options: SpeakerOptions): Promise<Speaker> {
  const given = toSpeakerAddress(options);
  if (given === undefined) return nobody;
  const address = { agent, ...given };
  const { config } = varve.settings;
  const resolvePrincipal = () => varve.sessions.resolvePrincipal(address);
  const { key } = await varve.sessions.resolveKey(address);
  if (given.peer === undefined || given.owner || parseSessionKey(key).kind === "main") {
    const owners = await listOwners(varve, agent);
    return {
      belongsTo: { owner: true },
      marks: ["owner"],
      judge({ audience }) {
        const isOwn = audience === undefined || isNobodys(audience) || isOwnersChat(config, owners, audience);
        return isOwn ? "own" : "foreign";
      },
      resolvePrincipal,
    };
  }
  const { identityLinks } = config.session;
  const person = getPeerAudience(given.channel, given.peer, identityLinks);
  return {
    belongsTo: { audience: person },
    marks: listAudiences(person, identityLinks),
    judge({ audience }) {
      if (audience !== undefined && resolveAudience(audience, identityLinks) === person) return "own";
      return audience !== undefined && isNobodys(audience) ? "refused" : "foreign";
    },
    resolvePrincipal,
  };
}

const nobody: Speaker = {
  belongsTo: { itself: true },
  marks: [],
  judge: ({ audience }) => (audience !== undefined && isNobodys(audience) ? "own" : "refused"),
  resolvePrincipal: async () => undefined,
};

async function listOwners(varve: Varve, agent: string): Promise<Owners> {
  const owners = await varve.owners.list(agent);
  return groupOwners(owners.map(({ channel, id }) => ({ channel, peer: id })));
}

/** Whether a session is the speaker's; throws `REFUSED` when it is not known whose it is. */
export function isOpen(speaker: Speaker, session: Session): boolean {
  const ownership = speaker.judge(session);
  if (ownership === "refused") throw refuseSession(session);
  return ownership === "own";
}

/** A part of a conversation belongs to whom the conversation belongs. */
export function belongLike({ audience }: Session): Belonging {
  return audience === undefined ? { owner: true } : { audience };
}

/** The error for a session whose name is known to somebody whom it does not belong to. */
function refuseSession({ key, audience }: Session): VarveError {
  if (audience !== undefined && isNobodys(audience)) {
    return new VarveError("REFUSED", `The session ${key} was recorded without saying who speaks in it.`, {
      remedy: "Open it without peer, or with owner: true if it is the owner's; or use another name for a new one.",
    });
  }
  return new VarveError("REFUSED", `The session ${key} belongs to somebody.`, {
    remedy: "Pass peer, the id of the person who speaks, or owner: true when it is the owner.",
  });
}

const warned = new Set<string>();

/** Says once in this process that the conversations of a host belong to nobody. */
export function warnWithoutSpeaker(caller: string, options: object): void {
  if (hasSpeaker(options) || warned.has(caller)) return;
  warned.add(caller);
  process.emitWarning(
    `${caller} is not told who speaks, so each conversation belongs to nobody and sees only itself. ` +
      "Pass peer, the id of the person who speaks, or owner: true in a program of your own.",
    { type: "VarveWarning", code: "VARVE_NO_PERSON" },
  );
}

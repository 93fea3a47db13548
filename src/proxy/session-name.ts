import { createHmac } from "node:crypto";
import {
  type Belonging,
  canUseAgent,
  foreignAgent,
  hasRight,
  type Principal,
  printProxyClient,
} from "../authorization/index.ts";
import { parseSessionKey, printSessionKey, VarveError } from "../domain/index.ts";
import { chainId } from "./history.ts";
import type { Format, Unit } from "./wire.ts";

export interface NameSources {
  headers: Headers;
  /** The principal of the access token, if there is one. */
  principal?: Principal;
  /** The client's credential for the provider; only its hash is used. */
  credential: string;
  /** The secret of this installation, so that the hash does not reveal the credential. */
  secret: string;
  agent: string;
}

/** Marks the owners whose credential is renewed. */
export const renewedPrefix = "signed-in:";
const plain = /^[a-z0-9][a-z0-9._-]{0,127}$/;
const nameLengthMax = 512;
/** A session id of Varve is made from it. */
const clientIdLengthMax = 200;
/** Headers in which clients send the id of a conversation, and whether the id is unguessable. */
const clientHeaders: readonly (readonly [name: string, isSecret: boolean])[] = [
  ["x-claude-code-session-id", true],
  ["session_id", false],
  ["session-id", false],
  ["x-session-id", false],
];

/**
 * Derives the session key of a conversation; undefined before the first reply, because two conversations may start with
 * the same message.
 */
export function deriveSessionKey(sources: NameSources, format: Format, units: readonly Unit[]): string | undefined {
  const { headers, principal, agent } = sources;
  const own = principal !== undefined && hasRight(principal, "read");
  const sessionName = headers.get("x-varve-session") ?? undefined;
  if (sessionName !== undefined) return resolveNamedKey(sessionName, sources, own, agent);
  for (const [header, isSecret] of clientHeaders) {
    const id = headers.get(header)?.trim();
    if (!id || id.length > nameLengthMax) continue;
    // Clients use one id for several conversations, such as titles and sub-agents; their first messages differ.
    const start = hashStart(format, units, 1) ?? "";
    const name = `${header.replace(/^x-/, "")}\n${id}\n${start}`;
    const isShared = own || (isSecret && !hasStableCredential(sources));
    return printDirectKey(
      agent,
      isShared ? digest(sources.secret, name) : digest(sources.secret, getNamespace(sources), name),
    );
  }
  const answered = units.findIndex((unit) => unit.wires.some((wire) => wire.role === "assistant" || isCall(wire)));
  if (answered === -1) return undefined;
  const start = hashStart(format, units, answered + 1) ?? "";
  return printDirectKey(agent, digest(sources.secret, own ? `agent ${agent}` : getNamespace(sources), start));
}

/**
 * Derives the session key that only this credential leads to, for a conversation whose session key other credentials
 * share; undefined when the session key is not shared.
 */
export function deriveExclusiveKey(sources: NameSources, sharedKey: string | undefined): string | undefined {
  const client = findClientSession(sources);
  if (client === undefined || sharedKey === undefined || !client.isRenewed) return undefined;
  return printDirectKey(sources.agent, digest(sources.secret, getNamespace(sources), sharedKey));
}

/**
 * Whom a new conversation belongs to. The name of a channel or a session proves nothing: a client with a token that reads
 * everything is the owner's program, another token is a person of its own, and without one the holder of the provider key is.
 */
export function chooseBelonging(sources: NameSources, trust: "untrusted" | "owner"): Belonging | undefined {
  const { headers, principal, secret } = sources;
  const readsAll = principal !== undefined && hasRight(principal, "read") && principal.scopes === undefined;
  // A whole key tells whose it is.
  if (readsAll && /^agent:/i.test(headers.get("x-varve-session") ?? "")) return undefined;
  if (readsAll || (principal === undefined && trust === "owner")) return { owner: true };
  return { audience: printProxyClient(digest(secret, "client", getNamespace(sources))) };
}

/** Returns the client's session, which may have several conversations; undefined when the client sends no id. */
export function findClientScope(sources: NameSources): string | undefined {
  const client = findClientSession(sources);
  return client && digest(sources.secret, sources.agent, client.id, client.owner);
}

/** The session of a client whose own transcripts may be imported. */
export interface ClientSession {
  id: string;
  /** Who sent it, as a hash. */
  owner: string;
  /** Whether the credential is renewed every few hours, so that one person has several of these hashes. */
  isRenewed: boolean;
  /** The value that earlier versions stored for everybody with such a credential. */
  sharedOwner: string;
  /** Whether the caller may read the sessions of every client. */
  readsAll: boolean;
}

export function findClientSession(sources: NameSources): ClientSession | undefined {
  const { headers, principal, secret } = sources;
  if (headers.has("x-varve-session")) return undefined;
  for (const [header, isSecret] of clientHeaders) {
    const id = headers.get(header)?.trim();
    // Only an unguessable id may join two conversations.
    if (!id || !isSecret || id.length > clientIdLengthMax) continue;
    const readsAll = principal !== undefined && hasRight(principal, "read");
    const isRenewed = !readsAll && !hasStableCredential(sources);
    const owner = digest(secret, "owner", readsAll ? "reader" : getNamespace(sources));
    const sharedOwner = digest(secret, "owner", "signed in");
    return { id, owner: isRenewed ? `${renewedPrefix}${owner}` : owner, isRenewed, sharedOwner, readsAll };
  }
  return undefined;
}

/** A key stays the same; the token of a person who signed in to Claude Code is renewed every few hours. */
function hasStableCredential({ credential, principal }: NameSources): boolean {
  return principal !== undefined || !/^(?:Bearer +)?sk-ant-oat/i.test(credential);
}

function isCall(wire: Unit["wires"][number]): boolean {
  return typeof wire.type === "string" && /(?:_call|^reasoning)$/.test(wire.type);
}

function resolveNamedKey(name: string, sources: NameSources, own: boolean, agent: string): string {
  if (name.trim() === "" || name.length > nameLengthMax) {
    throw new VarveError("BAD_REQUEST", `x-varve-session is empty or longer than ${nameLengthMax} characters.`, {
      remedy: "Send a name for the conversation, or omit the header.",
    });
  }
  if (!own) return printDirectKey(agent, digest(sources.secret, getNamespace(sources), name));
  if (!/^agent:/i.test(name)) return printDirectKey(agent, plain.test(name) ? name : digest(sources.secret, name));
  const key = parseSessionKey(name);
  const named = "agent" in key ? key.agent : undefined;
  if (sources.principal && named !== undefined && !canUseAgent(sources.principal, named)) {
    throw foreignAgent(sources.principal, named);
  }
  return printSessionKey(key);
}

/** A caller without the right read gets its own namespace, so that a guessed name gives no access. */
function getNamespace({ credential, principal }: NameSources): string {
  return principal === undefined ? `credential ${credential}` : `token ${principal.name}`;
}

/** Identifies a credential without revealing it, whichever header it came in. */
export function hashCredential(secret: string, credential: string): string {
  return digest(secret, "credential", credential.replace(/^Bearer +/i, ""));
}

function hashStart(format: Format, units: readonly Unit[], count: number): string | undefined {
  let id = "";
  for (const unit of units.slice(0, count)) id = chainId(id, format.identity(unit));
  return id === "" ? undefined : id;
}

function digest(secret: string, ...parts: string[]): string {
  return createHmac("sha256", secret).update(JSON.stringify(parts)).digest("hex").slice(0, 32);
}

function printDirectKey(agent: string, peer: string): string {
  return printSessionKey({ kind: "direct", agent, channel: "proxy", peer });
}

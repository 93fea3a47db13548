import { createHmac } from "node:crypto";
import { canUseAgent, foreignAgent, hasRight, type Principal } from "../authorization/index.ts";
import { parseSessionKey, printSessionKey, VarveError } from "../domain/index.ts";
import { idAfter } from "./history.ts";
import type { Format, Unit } from "./wire.ts";

export interface NameSources {
  headers: Headers;
  /** Who asks, once a token of the gateway was shown. */
  principal?: Principal;
  /** What came along to show the provider who asks; only its hash is used. */
  credential: string;
  /** The secret of this installation, so that nobody can tell a credential by its hash. */
  secret: string;
  agent: string;
}

const plain = /^[a-z0-9][a-z0-9._-]{0,127}$/;
const nameLengthMax = 512;
/** Headers by which clients name their conversations, and whether the name cannot be guessed. */
const clientHeaders: readonly (readonly [name: string, isSecret: boolean])[] = [
  ["x-claude-code-session-id", true],
  ["session_id", false],
  ["session-id", false],
  ["x-session-id", false],
];

/**
 * The session key of a conversation; undefined while it cannot be told, because nothing was answered in it yet and two
 * conversations may begin with the same words.
 */
export function sessionKey(sources: NameSources, format: Format, units: readonly Unit[]): string | undefined {
  const { headers, principal, agent } = sources;
  const own = principal !== undefined && hasRight(principal, "read");
  const named = headers.get("x-varve-session") ?? undefined;
  if (named !== undefined) return keyOfName(named, sources, own, agent);
  for (const [header, isSecret] of clientHeaders) {
    const id = headers.get(header)?.trim();
    if (!id || id.length > nameLengthMax) continue;
    // A client sends more than its conversation under one id: titles, sub-agents. Each begins in its own way.
    const start = startOf(format, units, 1) ?? "";
    const name = `${header.replace(/^x-/, "")}\n${id}\n${start}`;
    return direct(
      agent,
      isSecret || own ? digest(sources.secret, name) : digest(sources.secret, spaceOf(sources), name),
    );
  }
  const answered = units.findIndex((unit) => unit.wires.some((wire) => wire.role === "assistant" || isCall(wire)));
  if (answered === -1) return undefined;
  const start = startOf(format, units, answered + 1) ?? "";
  return direct(agent, digest(sources.secret, own ? `agent ${agent}` : spaceOf(sources), start));
}

/** The client's own session, which may hold several conversations; undefined where the client names none. */
export function clientScope({ headers, secret, agent }: NameSources): string | undefined {
  if (headers.has("x-varve-session")) return undefined;
  for (const [header, isSecret] of clientHeaders) {
    const id = headers.get(header)?.trim();
    // Only a name that nobody can guess may join two conversations.
    if (id && isSecret) return digest(secret, agent, header, id);
  }
  return undefined;
}

function isCall(wire: Unit["wires"][number]): boolean {
  return typeof wire.type === "string" && /(?:_call|^reasoning)$/.test(wire.type);
}

function keyOfName(name: string, sources: NameSources, own: boolean, agent: string): string {
  if (name.trim() === "" || name.length > nameLengthMax) {
    throw new VarveError("BAD_REQUEST", `x-varve-session is empty or longer than ${nameLengthMax} characters.`, {
      remedy: "Send a name for the conversation, or leave the header out.",
    });
  }
  if (!own) return direct(agent, digest(sources.secret, spaceOf(sources), name));
  if (!/^agent:/i.test(name)) return direct(agent, plain.test(name) ? name : digest(sources.secret, name));
  const key = parseSessionKey(name);
  if (sources.principal && "agent" in key && !canUseAgent(sources.principal, key.agent)) {
    throw foreignAgent(sources.principal, key.agent);
  }
  return printSessionKey(key);
}

/** Who cannot show that they may read everything has names of their own: a name that is guessed opens nothing. */
function spaceOf({ credential, principal }: NameSources): string {
  return principal === undefined ? `credential ${credential}` : `token ${principal.name}`;
}

function startOf(format: Format, units: readonly Unit[], count: number): string | undefined {
  let id = "";
  for (const unit of units.slice(0, count)) id = idAfter(id, format.identity(unit));
  return id === "" ? undefined : id;
}

function digest(secret: string, ...parts: string[]): string {
  return createHmac("sha256", secret).update(JSON.stringify(parts)).digest("hex").slice(0, 32);
}

function direct(agent: string, peer: string): string {
  return printSessionKey({ kind: "direct", agent, channel: "proxy", peer });
}

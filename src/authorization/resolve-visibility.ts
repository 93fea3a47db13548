import { getOwn, VarveError } from "../domain/index.ts";
import type { Access } from "./access.ts";
import { visibleScopes } from "./memory-scopes.ts";
import { canUseAgent, owner, type Principal } from "./principal.ts";
import { agentScope, reflectionScope } from "./scope-names.ts";
import type { Visibility } from "./visibility.ts";

/** Who asks, and about which agent: part of every request to a service. */
export interface Requester {
  /** The owner when absent. */
  principal?: Principal;
  /** The agent of the settings when absent. */
  agent?: string;
}

interface AccessSettings {
  /** The agent that is meant when none is named. */
  agent: string;
  memory: { agentScopes: Readonly<Record<string, readonly string[]>> };
}

/** Resolves the visibility of a principal for an agent. Throws `FORBIDDEN` for an agent it may not use. */
export function resolveVisibility(settings: AccessSettings, { principal = owner, agent }: Requester = {}): Visibility {
  const only = principal.agents?.length === 1 ? principal.agents[0] : undefined;
  const chosen = agent ?? only ?? settings.agent;
  if (!canUseAgent(principal, chosen)) throw foreignAgent(principal, chosen);
  const { conversations } = principal;
  const seen = { agent: chosen, ...chooseScopes(settings, principal, chosen) };
  return { ...seen, ...chooseWritable(principal, seen), ...(conversations === undefined ? {} : { conversations }) };
}

/** A principal's own list is exact; that of the settings is an agent's, whose reflections belong to it. */
function chooseScopes(
  settings: AccessSettings,
  { scopes, addedScopes = [], agents }: Principal,
  agent: string,
): Pick<Visibility, "scopes" | "mayNameScopes" | "system"> {
  if (scopes === "all") return { system: true };
  if (scopes !== undefined) return { scopes };
  const open = getOwn(settings.memory.agentScopes, agent);
  if (open?.length === 0) return { scopes: [] };
  if (open === undefined && addedScopes.length === 0) return agents === undefined ? { mayNameScopes: true } : {};
  const own = open === undefined ? ["global", agentScope(agent)] : open;
  return { scopes: [...new Set([...own, reflectionScope(agent), ...addedScopes])] };
}

/** What all agents share is read-only for a principal that is bound to some of them. */
function chooseWritable({ agents, writableScopes }: Principal, seen: Visibility): Pick<Visibility, "writableScopes"> {
  if (writableScopes !== undefined) return { writableScopes };
  const scopes = agents === undefined ? undefined : visibleScopes(seen);
  return scopes === undefined ? {} : { writableScopes: sortHomeFirst(seen.agent, scopes) };
}

function sortHomeFirst(agent: string, scopes: readonly string[]): string[] {
  const home = agentScope(agent);
  const others = scopes.filter((scope) => scope !== home && scope !== "global");
  return scopes.includes(home) ? [home, ...others] : others;
}

/** The access to the database that a principal's requests get. */
export function resolveAccess(settings: AccessSettings, principal: Principal): Access {
  const { agents, scopes } = principal;
  if (Array.isArray(scopes)) return { agents, scopes };
  if (agents === undefined || scopes === "all") return { agents };
  const seen = agents.map((agent) => visibleScopes(resolveVisibility(settings, { principal, agent })) ?? []);
  return { agents, scopes: [...new Set(seen.flat())] };
}

export function foreignAgent(principal: Principal, foreign: string): VarveError {
  const own = principal.agents?.join(", ") || "no agent";
  return new VarveError("FORBIDDEN", `This access is bound to the agent ${own} and cannot use ${foreign}.`, {
    remedy: `Leave the agent out, or name ${own}.`,
  });
}

import { VarveError } from "../domain/index.ts";
import { canUseAgent, owner, type Principal } from "./principal.ts";

/** What one query may see. Every query takes it, so that nothing is filtered after the fact. */
export interface Visibility {
  /** Whose data is asked about. */
  readonly agent: string;
  /** The visible memory scopes; the agent's own, its reflections and `global` when absent. Empty: no memory at all. */
  readonly scopes?: readonly string[];
  /** The visible conversations; all of the agent's when absent. */
  readonly conversations?: readonly number[];
  /** Every memory scope is visible. */
  readonly system?: boolean;
}

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

/** What a principal sees of an agent. Throws `FORBIDDEN` for an agent it may not use. */
export function resolveVisibility(settings: AccessSettings, { principal = owner, agent }: Requester = {}): Visibility {
  const only = principal.agents?.length === 1 ? principal.agents[0] : undefined;
  const chosen = agent ?? only ?? settings.agent;
  if (!canUseAgent(principal, chosen)) throw foreignAgent(principal, chosen);
  const scopes = principal.scopes ?? settings.memory.agentScopes[chosen];
  const { conversations } = principal;
  return {
    agent: chosen,
    ...(scopes === undefined ? {} : scopes === "all" ? { system: true } : { scopes }),
    ...(conversations === undefined ? {} : { conversations }),
  };
}

export function foreignAgent(principal: Principal, foreign: string): VarveError {
  const own = principal.agents?.join(", ") || "no agent";
  return new VarveError("FORBIDDEN", `This access is bound to the agent ${own} and cannot use ${foreign}.`, {
    remedy: `Leave the agent out, or name ${own}.`,
  });
}

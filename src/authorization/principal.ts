/** A right of a principal. `admin` includes the others; `write` does not include `read`. */
export type Right = "read" | "write" | "admin";

/**
 * Who asks: the owner of the machine, the holder of an access token, a person in a channel, or a delegated reader. It is
 * passed to every service call; absent, the owner asks.
 */
export interface Principal {
  readonly name: string;
  readonly rights: ReadonlySet<Right>;
  /** The only agents it may use; every agent when absent. */
  readonly agents?: readonly string[];
  /** The only memory scopes it may read and write; those the settings open for the agent when absent. */
  readonly scopes?: readonly string[] | "all";
  /** Memory scopes that it reads in addition to those the settings open for the agent. */
  readonly addedScopes?: readonly string[];
  /** The only memory scopes it may write, the default one first; all that it reads when absent. */
  readonly writableScopes?: readonly string[];
  /** The only conversations it may see; every conversation of its agents when absent. */
  readonly conversations?: readonly number[];
}

export const allRights: ReadonlySet<Right> = new Set(["read", "write", "admin"]);

/** The owner of the machine: sees and may do everything. */
export const owner: Principal = { name: "owner", rights: allRights };

/** Whether a principal may do everything everywhere: the owner, or the holder of such a token. */
export function isUnlimited(principal: Principal): boolean {
  const { agents, scopes, conversations } = principal;
  const isBound = agents !== undefined || conversations !== undefined || (scopes !== undefined && scopes !== "all");
  return hasRight(principal, "admin") && !isBound;
}

export function hasRight(principal: Principal, right: Right): boolean {
  return principal.rights.has("admin") || principal.rights.has(right);
}

export function canSeeConversation({ conversations }: Principal, conversation: number): boolean {
  return conversations === undefined || conversations.includes(conversation);
}

export function canUseAgent(principal: Principal, agent: string): boolean {
  return principal.agents === undefined || principal.agents.includes(agent);
}

import { AsyncLocalStorage } from "node:async_hooks";

/**
 * What the database lets statements see that run for somebody, in addition to what the statements ask for. On PostgreSQL
 * row-level security enforces it, so that a statement that forgets its tenant finds nothing of others.
 */
export interface Access {
  /** The only agents whose rows are seen; all when absent. */
  readonly agents?: readonly string[];
  /** The only memory scopes whose rows are seen; all when absent. */
  readonly scopes?: readonly string[];
}

const running = new AsyncLocalStorage<Access>();

/** Runs work, and everything it starts, with limited access to the database. */
export function runWithAccess<T>(access: Access, work: () => T): T {
  return running.run(access, work);
}

/**
 * Runs work of the engine itself, such as filling a cache that requests share, with full access. It is for work that is
 * started by a request but does not belong to it.
 */
export function runAsEngine<T>(work: () => T): T {
  return running.run({}, work);
}

/** Whether rows of an agent may be seen: what caches answer must be checked, since the database is not asked. */
export function isAgentOpen(agent: string): boolean {
  return getAccess().agents?.includes(agent) ?? true;
}

export function getAccess(): Access {
  return running.getStore() ?? {};
}

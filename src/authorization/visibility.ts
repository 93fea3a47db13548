/** The rows that one query may see. Every query takes it, so that nothing is filtered after the fact. */
export interface Visibility {
  /** Whose data is asked about. */
  readonly agent: string;
  /** The visible memory scopes; the agent's own, its reflections and `global` when absent. Empty: no memory at all. */
  readonly scopes?: readonly string[];
  /** The memory scopes that may be written, the default one first; all visible ones when absent. */
  readonly writableScopes?: readonly string[];
  /** The visible conversations; all of the agent's when absent. */
  readonly conversations?: readonly number[];
  /** Scopes of people, groups and projects are visible when they are named, although they are not read unasked. */
  readonly mayNameScopes?: boolean;
  /** Every memory scope is visible. */
  readonly system?: boolean;
}

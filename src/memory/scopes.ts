import { VarveError } from "../domain/index.ts";

/** Who asks. Internal callers (`system`) see everything. */
export interface Reader {
  agent: string;
  /** Replaces what the agent sees by itself; an empty list denies everything. */
  scopes?: readonly string[];
  system?: boolean;
}

const form =
  /^(?:global|agent:[a-z0-9][a-z0-9_-]*|user:\S{1,200}|project:\S{1,200}|custom:\S{1,200}|reflection:agent:[a-z0-9][a-z0-9_-]*)$/;

export function agentScope(agent: string): string {
  return `agent:${agent}`;
}

export function reflectionScope(agent: string): string {
  return `reflection:agent:${agent}`;
}

export function isScope(text: string): boolean {
  return form.test(text);
}

export function checkScope(scope: string): string {
  if (isScope(scope)) return scope;
  throw new VarveError("BAD_REQUEST", `${JSON.stringify(scope.slice(0, 200))} is not a scope.`, {
    remedy: "Write global, agent:<id>, user:<id>, project:<id>, custom:<name> or reflection:agent:<id>.",
  });
}

/** The scopes a reader sees; undefined for all of them. */
export function visibleScopes({ agent, scopes, system }: Reader): string[] | undefined {
  if (system) return undefined;
  if (scopes === undefined) return ["global", agentScope(agent), reflectionScope(agent)];
  if (scopes.length === 0) return [];
  return [...new Set([...scopes, reflectionScope(agent)])];
}

/** The same, narrowed to the scopes that are asked for. What is not the reader's is left out, not explained. */
export function narrowScopes(reader: Reader, asked: readonly string[] | undefined): string[] | undefined {
  const seen = visibleScopes(reader);
  if (asked === undefined) return seen;
  const checked = asked.map(checkScope);
  return seen === undefined ? checked : checked.filter((scope) => seen.includes(scope));
}

/** Where a reader writes: the scope it names, else its own, else what everybody shares. */
export function writeScope(reader: Reader, asked?: string): string {
  const seen = visibleScopes(reader);
  const may = (scope: string) => seen === undefined || seen.includes(scope);
  if (asked !== undefined) {
    if (may(checkScope(asked))) return asked;
    throw refused(`The scope ${asked} is not open to the agent ${reader.agent}.`);
  }
  const found = [agentScope(reader.agent), "global"].find(may);
  if (found !== undefined) return found;
  throw refused(`No scope is open to the agent ${reader.agent} for writing.`);
}

function refused(message: string): VarveError {
  return new VarveError("REFUSED", message, {
    remedy: "Leave the scope out, name one that is open, or open it by memory.agentScopes in the settings.",
  });
}

import { VarveError } from "../domain/index.ts";
import type { Visibility } from "./visibility.ts";

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

/** The memory scopes that are visible; undefined for all of them. */
export function visibleScopes({ agent, scopes, system }: Visibility): string[] | undefined {
  if (system) return undefined;
  if (scopes === undefined) return ["global", agentScope(agent), reflectionScope(agent)];
  if (scopes.length === 0) return [];
  return [...new Set([...scopes, reflectionScope(agent)])];
}

/** The visible scopes among those that are requested. A scope that is not visible is left out without an error. */
export function narrowScopes(visibility: Visibility, requested: readonly string[] | undefined): string[] | undefined {
  const seen = visibleScopes(visibility);
  if (requested === undefined) return seen;
  const checked = requested.map(checkScope);
  return seen === undefined ? checked : checked.filter((scope) => seen.includes(scope));
}

/** The scope to write to: the requested one, else the agent's own, else `global`. Throws `REFUSED` when none is open. */
export function writeScope(visibility: Visibility, requested?: string): string {
  const seen = visibleScopes(visibility);
  const isOpen = (scope: string) => seen === undefined || seen.includes(scope);
  if (requested !== undefined) {
    if (isOpen(checkScope(requested))) return requested;
    throw refused(`The scope ${requested} is not open to the agent ${visibility.agent}.`);
  }
  const found = [agentScope(visibility.agent), "global"].find(isOpen);
  if (found !== undefined) return found;
  throw refused(`No scope is open to the agent ${visibility.agent} for writing.`);
}

function refused(message: string): VarveError {
  return new VarveError("REFUSED", message, {
    remedy: "Leave the scope out, name one that is open, or open it by memory.agentScopes in the settings.",
  });
}

import { escapeNamesake, escapeSegment, foldCase, readSegment, VarveError } from "../domain/index.ts";
import { agentScope, reflectionScope } from "./scope-names.ts";
import type { Visibility } from "./visibility.ts";

const form =
  /^(?:global|agent:[a-z0-9][a-z0-9_-]*|(?:user|group|session|project|custom):\S{1,500}|reflection:agent:[a-z0-9][a-z0-9_-]*)$/;

/** Scopes that are made of ids: each id is one segment. */
const ofIds = /^(user|group|session):([\s\S]+)$/;

/** A scope as it is stored. Ids may be written as they are: `user:app:Ann Lee`, `user:matrix:@bob:server.org`. */
function normaliseScope(scope: string): string {
  const [, kind, rest] = ofIds.exec(scope) ?? [];
  if (kind === undefined || rest === undefined || !rest.isWellFormed()) return scope;
  const [first = "", ...others] = rest.split(":");
  if (others.length === 0) return `${kind}:${normaliseSegment(first)}`;
  const second = others.length === 1 ? normaliseSegment(others[0] ?? "") : escapeSegment(others.join(":"));
  return `${kind}:${normaliseSegment(foldCase(first))}:${second}`;
}

function normaliseSegment(segment: string): string {
  const { id, isNamesake } = readSegment(segment);
  return isNamesake ? escapeNamesake(id) : escapeSegment(id);
}

export function isScope(text: string): boolean {
  return form.test(normaliseScope(text));
}

export function checkScope(scope: string): string {
  if (isScope(scope)) return normaliseScope(scope);
  throw new VarveError("BAD_REQUEST", `${JSON.stringify(scope.slice(0, 200))} is not a scope.`, {
    remedy:
      "Write global, agent:<id>, user:<channel>:<id>, group:<channel>:<id>, session:<channel>:<id>, project:<id>, custom:<name> or reflection:agent:<id>.",
  });
}

/** The memory scopes that are visible; undefined for all of them. */
export function visibleScopes({ agent, scopes, system }: Visibility): string[] | undefined {
  if (system) return undefined;
  return scopes === undefined ? ["global", agentScope(agent), reflectionScope(agent)] : [...scopes];
}

/** The visible scopes among those that are requested. A scope that is not visible is left out without an error. */
export function narrowScopes(visibility: Visibility, requested: readonly string[] | undefined): string[] | undefined {
  const seen = visibleScopes(visibility);
  if (requested === undefined) return seen;
  return requested.map(checkScope).filter((scope) => canReadScope(visibility, scope));
}

/** Whether memories of a scope are visible when the scope, or one of them, is named. */
function canReadScope(visibility: Visibility, scope: string): boolean {
  const seen = visibleScopes(visibility);
  return seen === undefined || seen.includes(scope) || (visibility.mayNameScopes === true && !isAgents(scope));
}

/** Whether a scope belongs to an agent, so that other agents do not see it. */
function isAgents(scope: string): boolean {
  return /^(?:agent|reflection):/.test(scope);
}

/** Whether a visible memory of this scope may be changed. */
export function canWriteScope(visibility: Visibility, scope: string): boolean {
  const { writableScopes } = visibility;
  return writableScopes === undefined ? canReadScope(visibility, scope) : writableScopes.includes(scope);
}

/** Throws `REFUSED` when a memory of this scope may be read only. */
/** Whether the notes in an agent's folders may be read: by those who read all of the agent, or its scope. */
export function canReadNotes(visibility: Visibility): boolean {
  if (visibility.conversations === undefined) return true;
  return visibleScopes(visibility)?.includes(agentScope(visibility.agent)) ?? true;
}

export function requireWritable(visibility: Visibility, scope: string): void {
  if (!canWriteScope(visibility, scope)) throw refused(`Memories of the scope ${scope} can be read here, not changed.`);
}

/**
 * The scope to write to: the requested one, else the first that may be written, else the agent's own, else `global`.
 * Throws `REFUSED` when none is open.
 */
export function writeScope(visibility: Visibility, requested?: string): string {
  if (requested !== undefined) {
    const scope = checkScope(requested);
    if (canWriteScope(visibility, scope)) return scope;
    throw refused(`The scope ${requested} is not open to the agent ${visibility.agent} for writing.`);
  }
  const own = [agentScope(visibility.agent), "global"].find((scope) => canWriteScope(visibility, scope));
  const found = visibility.writableScopes?.[0] ?? own;
  if (found !== undefined) return found;
  throw refused(`No scope is open to the agent ${visibility.agent} for writing.`);
}

function refused(message: string): VarveError {
  return new VarveError("REFUSED", message, {
    remedy: "Leave the scope out, name one that is open, or open it by memory.agentScopes in the settings.",
  });
}

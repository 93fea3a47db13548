import type { Entry } from "../../index.ts";
import { type CheckItem, findCommands, findLastChecks } from "./checks.ts";
import { type DecisionItem, findDecisions } from "./decisions.ts";
import { type ErrorItem, findErrors } from "./errors.ts";
import { type FileItem, findChangedFiles, findNamedFiles } from "./files.ts";
import { findLiterals, type LiteralItem } from "./literals.ts";
import { findRequests, type RequestItem } from "./requests.ts";
import { readSteps } from "./steps.ts";
import { findTodos, type TodoItem } from "./todos.ts";

/** Items of a work conversation that must survive. Derived from its entries alone, without the summariser's code. */
export interface WorkItems {
  files: FileItem[];
  todos: TodoItem[];
  lastChecks: CheckItem[];
  commands: CheckItem[];
  requests: RequestItem[];
  errors: ErrorItem[];
  decisions: DecisionItem[];
  numbers: LiteralItem[];
  paths: LiteralItem[];
  identifiers: LiteralItem[];
  /** Not measured: the files by which the names of changed files may be ambiguous. */
  namedFiles: string[];
}

export type WorkKind = Exclude<keyof WorkItems, "namedFiles">;

export const workKinds = [
  "files",
  "todos",
  "lastChecks",
  "commands",
  "requests",
  "errors",
  "decisions",
  "numbers",
  "paths",
  "identifiers",
] as const satisfies readonly WorkKind[];

/** Reads the items of a conversation from the entries of its active branch, oldest first. */
export function readWorkItems(entries: readonly Entry[]): WorkItems {
  const steps = readSteps(entries);
  return {
    files: findChangedFiles(steps),
    todos: findTodos(steps),
    lastChecks: findLastChecks(steps),
    commands: findCommands(steps),
    requests: findRequests(steps),
    errors: findErrors(steps),
    decisions: findDecisions(steps),
    ...findLiterals(steps),
    namedFiles: findNamedFiles(steps),
  };
}

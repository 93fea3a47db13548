import type { JsonValue } from "../../index.ts";
import { cleanPath, getFileName, isFilePath, isSameFile } from "./paths.ts";
import { parseShell, type ShellCommand } from "./shell.ts";
import { type CallStep, isObject, type Step } from "./steps.ts";

export interface FileItem {
  path: string;
}

/** The files that the calls changed, each once, under the longest path that names it. */
export function findChangedFiles(steps: readonly Step[]): FileItem[] {
  const paths: string[] = [];
  for (const step of steps) {
    if (step.kind !== "call") continue;
    for (const path of listChanges(step)) addPath(paths, path);
  }
  return paths.map((path) => ({ path }));
}

function addPath(paths: string[], path: string): void {
  const at = paths.findIndex((known) => isSameFile(known, path));
  if (at === -1) paths.push(path);
  else if (path.length > (paths[at]?.length ?? 0)) paths[at] = path;
}

/** The files that the calls named, changed or not: a name that two of them share does not identify one. */
export function findNamedFiles(steps: readonly Step[]): string[] {
  const paths: string[] = [];
  for (const step of steps) {
    if (step.kind !== "call") continue;
    for (const path of [...listChanges(step), ...listInputPaths(step.input, false).map(cleanPath)])
      addPath(paths, path);
  }
  return paths;
}

/** The paths that one call wrote, edited, deleted or moved; none when it failed. */
export function listChanges(call: CallStep): string[] {
  if (!call.finished || call.failed === true) return [];
  const patch = findPatch(call);
  if (patch !== undefined) return hasErrorText(call) ? [] : listPatchedFiles(patch);
  if (call.command !== undefined) return listShellChanges(call.command);
  if (!isEditTool(call) || hasErrorText(call)) return [];
  return listInputPaths(call.input, fileTools.test(call.tool)).map(cleanPath);
}

function hasErrorText(call: CallStep): boolean {
  return /^\s*(?:<tool_use_error>|error\b|failed\b|could not\b|permission denied|no such file)/i.test(call.output);
}

const editWords =
  /(?:^|_|-)(?:write|edit|multiedit|notebookedit|create|delete|remove|move|rename|replace|patch|append|insert|update|overwrite|modify|save)(?:_|-|$)|^str_replace|^(?:search_replace|copy_file|edit_block)$/;
/** Tools whose path is always a file. */
const fileTools = /file|^(?:write|edit|multiedit|notebookedit|str_replace.*|create|insert|append)$/;
/** Tools of which one argument decides whether they change anything. */
const viewCommands: ReadonlySet<unknown> = new Set(["view", "read", "list", "undo_edit"]);

function isEditTool({ tool, input }: CallStep): boolean {
  if (/director|folder|todo|memory|issue|comment|page/.test(tool)) return false;
  return editWords.test(tool) && !(isObject(input) && viewCommands.has(input.command));
}

const pathKeys =
  /^(?:file_?path|path|file_?name|file|notebook_path|target_file|relative_path|relative_workspace_path|absolute_path|source|destination|source_path|destination_path|from|to|old_path|new_path|uri)$/i;

/** The paths among the arguments. With `isFileTool`, names without a known ending count as well. */
function listInputPaths(input: JsonValue, isFileTool: boolean): string[] {
  if (!isObject(input)) return [];
  return Object.entries(input).flatMap(([key, value]) => {
    // Tools that change several files take a list of edits, each with its path.
    if (Array.isArray(value) && /^(?:files|edits|changes|operations)$/.test(key)) {
      return value.flatMap((one) => listInputPaths(one, isFileTool));
    }
    if (typeof value !== "string" || !pathKeys.test(key) || value.includes("\n")) return [];
    const path = value.replace(/^file:\/\//, "");
    const isNamed = isFileTool && /^\S*[\w-]$/.test(path);
    return isFilePath(path) || isNamed || /^file_?path$/i.test(key) ? [path] : [];
  });
}

function findPatch({ tool, input, command }: CallStep): string | undefined {
  if (command !== undefined) return /^\s*(?:cd \S+ && )?apply_patch\b/.test(command) ? command : undefined;
  if (!/^apply_?patch$/.test(tool)) return undefined;
  if (typeof input === "string") return input;
  const text = isObject(input) ? (input.input ?? input.patch ?? input.diff) : undefined;
  return typeof text === "string" ? text : undefined;
}

function listPatchedFiles(patch: string): string[] {
  const headers = patch.matchAll(/^\*\*\* (?:(?:Update|Add|Delete) File|Move to): (.+)$/gm);
  return [...headers].map((found) => cleanPath((found[1] ?? "").trim()));
}

function listShellChanges(command: string): string[] {
  return parseShell(command).flatMap((one) => {
    const paths = [...one.writes, ...listTargets(one)].filter(isFilePath);
    return paths.map((path) => cleanPath(/^[/~]/.test(path) || one.folder === "" ? path : `${one.folder}/${path}`));
  });
}

/** The files that a command changes, besides its redirections. */
function listTargets({ words, filters }: ShellCommand): string[] {
  const tees = filters.filter(([name]) => name === "tee").flatMap(([, ...rest]) => dropFlags(rest));
  return [...tees, ...listOwnTargets(words[0] === "sudo" ? words.slice(1) : words)];
}

function listOwnTargets([name, ...rest]: readonly string[]): string[] {
  switch (name) {
    case "rm":
    case "unlink":
    case "touch":
    case "tee":
    case "truncate":
      return dropFlags(rest);
    case "mv":
      return listMoved(dropFlags(rest));
    case "cp":
      return listMoved(dropFlags(rest)).slice(dropFlags(rest).length - 1);
    case "git":
      return listGitTargets(rest);
    case "sed":
      return rest.some((word) => /^-[a-zA-Z]*i|^--in-place/.test(word))
        ? dropFlags(rest).slice(hasScriptFlag(rest) ? 0 : 1)
        : [];
    case "perl":
      return rest.some((word) => /^-\w*i/.test(word)) ? dropFlags(rest).slice(1) : [];
    default:
      return [];
  }
}

function listGitTargets([name, ...rest]: readonly string[]): string[] {
  if (name === "mv") return listMoved(dropFlags(rest));
  if (name === "rm" || name === "restore") return dropFlags(rest);
  return name === "checkout" && rest.includes("--") ? rest.slice(rest.indexOf("--") + 1) : [];
}

/** The sources and the resulting paths; a target folder receives files under their names. */
function listMoved(words: readonly string[]): string[] {
  const target = words.at(-1) ?? "";
  const sources = words.slice(0, -1);
  if (isFilePath(target)) return [...sources, target];
  const folder = target.replace(/\/$/, "");
  return [...sources, ...sources.map((source) => `${folder}/${getFileName(source)}`)];
}

function dropFlags(words: readonly string[]): string[] {
  return words.filter((word) => !word.startsWith("-") && word !== "");
}

function hasScriptFlag(words: readonly string[]): boolean {
  return words.some((word) => /^-e$|^--expression/.test(word));
}

import { existsSync, realpathSync } from "node:fs";
import { delimiter, join } from "node:path";
import { packageFolder } from "../../version.ts";
import type { FileChange } from "./changes.ts";

/** The machine and the options of a setup. */
export interface SetupContext {
  /** The user's home folder. */
  userHome: string;
  env: Readonly<Record<string, string | undefined>>;
  platform: NodeJS.Platform;
  /** Varve's home. */
  home: string;
  /** Options for every call of Varve, such as `--home`. */
  flags: readonly string[];
  /** The plugins of the program that Varve replaces, separated by commas. */
  from?: string;
}

/** A command line. */
export interface ProgramCall {
  command: string;
  args: string[];
}

/** The changes of a setup or a removal. */
export interface SetupPlan {
  changes: FileChange[];
  /** Facts for a later removal; undefined when there are none or they are recorded already. */
  remember?: SetupRecord;
  /** Next steps for the user. */
  notes: string[];
  /** Work in Varve after the changes. */
  follow?: SetupFollowUp;
}

/** The data that a setup brings into Varve. */
export interface SetupFollowUp {
  /** Files and folders to import. */
  importPaths: string[];
  /** Settings of Varve that get the values of equal ones. */
  settings: { key: string; value: string; from: string }[];
}

/** One edit of a JSON file, with what undoes it. */
export interface SetupEdit {
  path: string[];
  /** The value that was set, as JSON. */
  value?: string;
  /** The number of objects that were created around it. */
  made?: number;
  /** The text of the previous value. */
  replaced?: string;
  /** The element that was added to an array. */
  element?: string;
}

/** The record that a removal needs to restore the previous state. */
export interface SetupRecord {
  file: string;
  /** The file's previous text, where it was empty or an entry was replaced in TOML; null if there was no file. */
  whole?: string | null;
  /** The number of objects that were created around the entry. */
  made?: number;
  /** The text of the previous entry. */
  replaced?: string;
  /** The inserted text, if it is one piece. */
  inserted?: string;
  /** Folders that were created. */
  folders?: string[];
  /** The edits of a file with several, in the order they were made. */
  edits?: SetupEdit[];
}

export interface SetupTarget {
  name: string;
  /** The program's name in messages. */
  label: string;
  install(context: SetupContext, remembered: SetupRecord | undefined): SetupPlan;
  remove(context: SetupContext, remembered: SetupRecord | undefined): SetupPlan;
  /** Runs after the changes of a removal. */
  afterRemoval?(context: SetupContext, remembered: SetupRecord | undefined): void;
}

/**
 * Creates the command line by which another program calls Varve: its name if the shell finds it, else the paths of Node
 * and of Varve, as in a clone. Desktop programs are not started by a shell, so they always get the paths.
 */
export function createCall(context: SetupContext, what: readonly string[], startedByShell: boolean): ProgramCall {
  const program = realpathSync(join(packageFolder, "bin", "varve.js"));
  const args = [...what, ...context.flags];
  if (startedByShell && isOnPath(context, program)) return { command: "varve", args };
  return { command: process.execPath, args: [program, ...args] };
}

function isOnPath({ env }: SetupContext, program: string): boolean {
  const [first] = (env.PATH ?? "")
    .split(delimiter)
    .map((folder) => join(folder, "varve"))
    .filter((file) => existsSync(file));
  return first !== undefined && realpathSync(first) === program;
}

import { existsSync, realpathSync } from "node:fs";
import { delimiter, join } from "node:path";
import { packageFolder } from "../../version.ts";
import type { FileChange } from "./changes.ts";

/** Where and for whom something is set up. */
export interface SetupSetting {
  /** The person's home folder. */
  userHome: string;
  env: Readonly<Record<string, string | undefined>>;
  platform: NodeJS.Platform;
  /** Varve's home. */
  home: string;
  /** Options that every call of the program gets, such as `--home`. */
  flags: readonly string[];
}

/** How a program is called. */
export interface Call {
  command: string;
  args: string[];
}

/** What a target wants changed, and what is remembered of it for its removal. */
export interface SetupPlan {
  changes: FileChange[];
  /** Facts for the removal; undefined where there are none, or where they are known from before. */
  remember?: Remembered;
  /** What the person should know or do next. */
  notes: string[];
}

export interface Remembered {
  file: string;
  /** What the file held before; null when there was none. Only where it was made or had nothing in it. */
  whole?: string | null;
  /** How many objects around the entry were made for it. */
  made?: number;
  /** The text of the entry that was there before. */
  replaced?: string;
  /** The text that was put in, where it stands by itself. */
  inserted?: string;
  /** Folders that were made. */
  folders?: string[];
}

export interface SetupTarget {
  name: string;
  /** The configuration in words, for messages. */
  label: string;
  install(setting: SetupSetting, remembered: Remembered | undefined): SetupPlan;
  remove(setting: SetupSetting, remembered: Remembered | undefined): SetupPlan;
  /** What is left to do once the changes of a removal are done. */
  afterRemoval?(setting: SetupSetting, remembered: Remembered | undefined): void;
}

/**
 * How this program is called by others. By its name where the shell finds it by that; else by the paths of Node and of
 * this program, as in a clone. Programs with windows are not started by a shell, so they always get the paths.
 */
export function callOf(setting: SetupSetting, what: readonly string[], startedByShell: boolean): Call {
  const program = realpathSync(join(packageFolder, "bin", "varve.js"));
  const args = [...what, ...setting.flags];
  if (startedByShell && isOnPath(setting, program)) return { command: "varve", args };
  return { command: process.execPath, args: [program, ...args] };
}

function isOnPath({ env }: SetupSetting, program: string): boolean {
  const [first] = (env.PATH ?? "")
    .split(delimiter)
    .map((folder) => join(folder, "varve"))
    .filter((file) => existsSync(file));
  return first !== undefined && realpathSync(first) === program;
}

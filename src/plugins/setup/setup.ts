import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { writeAtomically } from "../../config/index.ts";
import { applyChanges, type FileChange } from "./changes.ts";
import { claudeCode } from "./claude-code.ts";
import { codex } from "./codex.ts";
import { claudeDesktop, cursor } from "./mcp-json.ts";
import { openclaw } from "./openclaw.ts";
import { pi } from "./pi.ts";
import type { SetupContext, SetupFollowUp, SetupRecord, SetupTarget } from "./setup-target.ts";

export const setupNames = ["claude-code", "claude-desktop", "cursor", "codex", "openclaw", "pi"] as const;
export type SetupName = (typeof setupNames)[number];

const targets: Readonly<Record<SetupName, SetupTarget>> = {
  "claude-code": claudeCode,
  "claude-desktop": claudeDesktop,
  cursor,
  codex,
  openclaw,
  pi,
};

/** A setup or a removal that is ready to be applied. */
export interface Setup {
  label: string;
  changes: readonly FileChange[];
  notes: readonly string[];
  follow?: SetupFollowUp;
  /** Makes the changes and returns the paths of the backups. */
  apply(now: number): string[];
}

/** Plans the changes; nothing is written before `apply`. */
export function planSetup(name: SetupName, context: SetupContext, remove: boolean): Setup {
  const target = targets[name];
  const recordFile = join(context.home, "setup", `${name}.json`);
  const remembered = readRecord(recordFile);
  const plan = remove ? target.remove(context, remembered) : target.install(context, remembered);
  return {
    label: target.label,
    changes: plan.changes,
    notes: plan.notes,
    ...(plan.follow === undefined ? {} : { follow: plan.follow }),
    apply(now) {
      // Written first, so that an interrupted setup can still be undone exactly.
      if (plan.remember) writeAtomically(recordFile, `${JSON.stringify(plan.remember, null, 2)}\n`);
      const backups = applyChanges(plan.changes, join(context.home, "backups", "setup"), now);
      if (remove) {
        target.afterRemoval?.(context, remembered);
        rmSync(recordFile, { force: true });
      }
      return backups;
    },
  };
}

function readRecord(file: string): SetupRecord | undefined {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as SetupRecord;
  } catch (error) {
    // Without the record, the entry is still found by its name.
    if (error instanceof SyntaxError || (error instanceof Error && "code" in error && error.code === "ENOENT")) {
      return undefined;
    }
    throw error;
  }
}

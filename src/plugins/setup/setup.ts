import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { writeAtomically } from "../../config/index.ts";
import { applyChanges, type FileChange } from "./changes.ts";
import { claudeCode } from "./claude-code.ts";
import { codex } from "./codex.ts";
import { claudeDesktop, cursor, openclaw, pi } from "./mcp-json.ts";
import type { Remembered, SetupSetting, SetupTarget } from "./setting.ts";

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

/** A setup or a removal that is ready to be done, and what it would change. */
export interface Setup {
  label: string;
  changes: readonly FileChange[];
  notes: readonly string[];
  /** Does it; gives the copies of what was replaced. */
  apply(now: number): string[];
}

/** Looks at what there is and says what would be changed; nothing is written before `apply`. */
export function planSetup(name: SetupName, setting: SetupSetting, remove: boolean): Setup {
  const target = targets[name];
  const ledger = join(setting.home, "setup", `${name}.json`);
  const remembered = readLedger(ledger);
  const plan = remove ? target.remove(setting, remembered) : target.install(setting, remembered);
  return {
    label: target.label,
    changes: plan.changes,
    notes: plan.notes,
    apply(now) {
      // Written first: a setup that is cut off can still be taken back exactly.
      if (plan.remember) writeAtomically(ledger, `${JSON.stringify(plan.remember, null, 2)}\n`);
      const backups = applyChanges(plan.changes, join(setting.home, "backups", "setup"), now);
      if (remove) {
        target.afterRemoval?.(setting, remembered);
        rmSync(ledger, { force: true });
      }
      return backups;
    },
  };
}

function readLedger(file: string): Remembered | undefined {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as Remembered;
  } catch (error) {
    // Without it, what was set up is still found by its name.
    if (error instanceof SyntaxError || (error instanceof Error && "code" in error && error.code === "ENOENT")) {
      return undefined;
    }
    throw error;
  }
}

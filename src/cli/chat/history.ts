import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const linesKept = 1_000;

/** What was typed before, the newest first, as the line editor wants it. */
export function readHistory(home: string): string[] {
  const file = historyFile(home);
  if (!existsSync(file)) return [];
  return readFileSync(file, "utf8").split("\n").filter(Boolean).slice(-linesKept).reverse();
}

/** Only the person themselves may read what they typed. */
export function writeHistory(home: string, newestFirst: readonly string[]): void {
  const file = historyFile(home);
  writeFileSync(file, `${newestFirst.slice(0, linesKept).toReversed().join("\n")}\n`, { mode: 0o600 });
  chmodSync(file, 0o600);
}

function historyFile(home: string): string {
  return join(home, "chat-history");
}

import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const linesMax = 1_000;

/** Reads the lines typed in earlier chats, newest first, as `readline` expects them. */
export function readHistory(home: string): string[] {
  const file = historyFile(home);
  if (!existsSync(file)) return [];
  return readFileSync(file, "utf8").split("\n").filter(Boolean).slice(-linesMax).reverse();
}

/** The file is readable by its owner only. */
export function writeHistory(home: string, newestFirst: readonly string[]): void {
  const file = historyFile(home);
  writeFileSync(file, `${newestFirst.slice(0, linesMax).toReversed().join("\n")}\n`, { mode: 0o600 });
  chmodSync(file, 0o600);
}

function historyFile(home: string): string {
  return join(home, "chat-history");
}

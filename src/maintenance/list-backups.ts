import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";

export interface BackupFile {
  file: string;
  time: number;
  bytes: number;
}

/** The backups of a folder, newest first. */
export function listBackups(folder: string): BackupFile[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => /\.(?:db|jsonl\.gz)$/.test(name))
    .map((name) => ({ file: join(folder, name), stat: statSync(join(folder, name)) }))
    .sort((a, b) => b.stat.mtimeMs - a.stat.mtimeMs)
    .map(({ file, stat }) => ({ file, time: Math.trunc(stat.mtimeMs), bytes: stat.size }));
}

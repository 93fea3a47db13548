import { readlinkSync } from "node:fs";
import { constants, setPriority } from "node:os";
import { basename } from "node:path";

/**
 * Lowers the scheduling priority of the calling thread, so that it uses the processor time that other threads leave.
 * Linux gives each thread a priority of its own; elsewhere the thread keeps the priority of the process.
 */
export function lowerThreadPriority(): void {
  if (process.platform !== "linux") return;
  try {
    // `/proc/thread-self` links to `<process>/task/<thread>` of the thread that reads it.
    setPriority(Number(basename(readlinkSync("/proc/thread-self"))), constants.priority.PRIORITY_LOW);
  } catch {
    // Without /proc, or where it is not allowed, the search only competes with others.
  }
}

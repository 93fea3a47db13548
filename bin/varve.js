#!/usr/bin/env node
// Runs under any Node: where it is too old, restarts with the Node of this clone's dependencies, or says what to install.

import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

const needed = [22, 22];
const found = process.versions.node.split(".").map(Number);
const recent = found[0] > needed[0] || (found[0] === needed[0] && found[1] >= needed[1]);
const root = fileURLToPath(new URL("..", import.meta.url));

/**
 * The gateway runs for weeks, and the young generation of newer versions of Node grows to 192 MB before it is collected;
 * with 16 MB it does the same work in 100 MB less. Node takes this limit only when it starts.
 */
const youngLimit = "--max-semi-space-size=16";
/** Lets the gateway return memory to the system when it is idle; see src/cli/idle-memory.ts. */
const collector = "--expose-gc";
const isUnlimitedGateway =
  process.argv[2] === "start" &&
  process.execve !== undefined &&
  process.platform !== "win32" &&
  ![...process.execArgv, process.env.NODE_OPTIONS ?? ""].some((option) => option.includes("--max-semi-space-size"));

if (recent && isUnlimitedGateway) {
  // Replaces this process: same id, same files, no second process.
  process.execve(
    process.execPath,
    [process.execPath, youngLimit, collector, ...process.execArgv, ...process.argv.slice(1)],
    process.env,
  );
}

if (recent) {
  // A hook must start fast, so it has a small bundle of its own.
  const isHook = process.argv[2] === "hook" && !process.argv.some((word) => word === "--help" || word === "-h");
  const main = new URL(`../dist/program/${isHook ? "hook" : "main"}.js`, import.meta.url);
  if (!existsSync(fileURLToPath(main))) {
    console.error("varve: this clone is not built yet. Run `npm ci` (or `npm run build`) in its folder and try again.");
    process.exit(1);
  }
  const { enableCompileCache } = await import("node:module");
  enableCompileCache?.();
  await import(main);
} else {
  const pinned = `${root}node_modules/node/bin/node`;
  if (!existsSync(pinned)) {
    console.error(
      `varve: Node ${process.versions.node} is too old; it needs ${needed.join(".")} or newer. Install a newer one, or run \`npm ci\` in ${root}, which installs one.`,
    );
    process.exit(1);
  }
  const { spawnSync } = await import("node:child_process");
  const child = spawnSync(pinned, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], { stdio: "inherit" });
  if (child.signal) process.kill(process.pid, child.signal);
  process.exit(child.status ?? 1);
}

/** Helpers of the provisioning scripts: find programs, and install Debian packages when this machine allows it. */
import { execFileSync, spawnSync } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

/** Thrown when something the tests need is not here and cannot be brought here. Its message says what to do. */
export class ProvisionError extends Error {
  constructor(what: string, why: string, ways: Record<string, string>) {
    const lines = Object.entries(ways).map(([purpose, command]) => `\n  ${`${purpose}:`.padEnd(30)}${command}`);
    super(`${what}: ${why}.${lines.join("")}`);
    this.name = "ProvisionError";
  }
}

/** The full path of a program on the search path, or `undefined`. */
export function findProgram(name: string): string | undefined {
  for (const folder of (process.env.PATH ?? "").split(delimiter)) {
    const path = join(folder, name);
    if (folder !== "" && isExecutable(path)) return path;
  }
  return undefined;
}

/** Why packages cannot be installed here, or `undefined` when they can. */
export function reasonNotInstallable(): string | undefined {
  if (findProgram("apt-get") === undefined) return "this machine has no apt-get";
  if (process.getuid?.() !== 0) return "only root can install packages";
  return undefined;
}

export function isPackageKnown(name: string): boolean {
  const shown = spawnSync("apt-cache", ["show", name], { stdio: ["ignore", "pipe", "ignore"], maxBuffer: 1 << 26 });
  return shown.status === 0 && shown.stdout.length > 0;
}

let listsAreFresh = false;

/** Fetches the package lists, once in this process. */
export function updatePackageLists(): void {
  if (listsAreFresh) return;
  run("apt-get", ["update", "-q"]);
  listsAreFresh = true;
}

/** Installs packages. Old lists name files the archive no longer has, so a failure is tried once more with new ones. */
export function installPackages(names: string[]): void {
  const install = () => run("apt-get", ["install", "-y", "-q", "--no-install-recommends", ...names]);
  if (!listsAreFresh && names.every(isPackageKnown)) {
    try {
      install();
      return;
    } catch (error) {
      console.error(`${firstLine(error)}; trying again with new package lists.`);
    }
  }
  updatePackageLists();
  install();
}

/** Runs a program to its end; its output goes to standard error, so that it never mixes with a result. */
export function run(program: string, args: string[], options: { cwd?: string } = {}): void {
  console.error(`  $ ${program} ${args.join(" ")}`);
  execFileSync(program, args, {
    cwd: options.cwd,
    env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
    stdio: ["ignore", 2, 2],
  });
}

export function firstLine(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message.split("\n", 1)[0] ?? message;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

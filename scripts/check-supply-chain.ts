/** Checks what is installed with the package: pinned versions, integrity of every download, and no unlisted scripts. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./test-run.ts";

export interface LockedPackage {
  version?: string;
  integrity?: string;
  resolved?: string;
  link?: boolean;
  dev?: boolean;
  hasInstallScript?: boolean;
}

export interface Manifest {
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
  scripts?: Record<string, string>;
  /** Whether the install script of a package may run. */
  allowScripts?: Record<string, boolean>;
}

export interface SupplyChain {
  manifest: Manifest;
  /** The `packages` of package-lock.json, by path. */
  locked: Record<string, LockedPackage>;
  /** The paths of installed packages that run something when they are installed. */
  withScripts: readonly string[];
  /** The text that explains each package with a script. */
  explanation: string;
}

/** `1.2.3`, or another version of a package under a second name: `npm:name@1.2.3`. */
const exactVersion = /^(?:npm:(?:@[\w.-]+\/)?[\w.-]+@)?\d+\.\d+\.\d+(?:-[\w.]+)?$/;
const lifecycle = ["preinstall", "install", "postinstall"];

/** Faults, one sentence each. */
export function findFaults({ manifest, locked, withScripts, explanation }: SupplyChain): string[] {
  const faults: string[] = [];
  for (const kind of ["dependencies", "devDependencies", "optionalDependencies"] as const) {
    for (const [name, range] of Object.entries(manifest[kind] ?? {})) {
      if (!exactVersion.test(range)) faults.push(`${kind}: ${name} is not pinned to one version (${range}).`);
    }
  }
  for (const [path, { integrity, resolved, link }] of Object.entries(locked)) {
    // A workspace is in this repository; its packages are checked like all others.
    if (!path.includes("node_modules/") || link) continue;
    if (!/^sha512-/.test(integrity ?? "")) faults.push(`${path} has no SHA-512 integrity in package-lock.json.`);
    // Without an address npm asks the registry that it is configured for, and the integrity decides.
    if (resolved !== undefined) faults.push(`${path} has an address of its own in package-lock.json: ${resolved}.`);
  }
  const flagged = Object.entries(locked).flatMap(([path, { hasInstallScript }]) => (hasInstallScript ? [path] : []));
  for (const path of new Set([...flagged, ...withScripts])) {
    const name = packageName(path);
    const allowed = manifest.allowScripts?.[name];
    if (allowed === undefined) faults.push(`${name} has an install script and is not listed in allowScripts.`);
    else if (allowed && !locked[path]?.dev) faults.push(`${name} would run a script in installations of users.`);
    if (!explanation.includes(`\`${name}\``))
      faults.push(`docs/supply-chain.md does not explain the script of ${name}.`);
  }
  return faults;
}

export function packageName(path: string): string {
  return path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length);
}

/** The lock file of npm does not mark every package with a script, so the installed ones are read. */
function listPackagesWithScripts(paths: readonly string[]): string[] {
  return paths.filter((path) => {
    const file = join(root, path, "package.json");
    if (!path.includes("node_modules/") || !existsSync(file)) return false;
    const { scripts = {} } = JSON.parse(readFileSync(file, "utf8")) as Manifest;
    // Without a script of its own, npm builds a package that has this file.
    return lifecycle.some((name) => scripts[name] !== undefined) || existsSync(join(root, path, "binding.gyp"));
  });
}

function main(): number {
  const read = (name: string): string => readFileSync(join(root, name), "utf8");
  const { packages: locked } = JSON.parse(read("package-lock.json")) as { packages: SupplyChain["locked"] };
  const manifest = JSON.parse(read("package.json")) as Manifest;
  const workspace = JSON.parse(read("console/package.json")) as Manifest;
  const faults = findFaults({
    manifest: { ...manifest, devDependencies: { ...manifest.devDependencies, ...workspace.devDependencies } },
    locked,
    withScripts: listPackagesWithScripts(Object.keys(locked)),
    explanation: read("docs/supply-chain.md"),
  });
  for (const fault of faults) console.error(fault);
  if (faults.length === 0) console.log(`The supply chain holds: ${Object.keys(locked).length - 1} packages.`);
  return faults.length === 0 ? 0 : 1;
}

if (import.meta.main) process.exitCode = main();

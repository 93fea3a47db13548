/** Brings programs that tests drive from npm into the clone's cache. They are too large to be dependencies. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { findProgram, firstLine, ProvisionError } from "./debian.ts";

export interface NpmProgram {
  /** `Claude Code` */
  title: string;
  package: string;
  version: string;
  /** The name of its program; absent for a library, whose folder is given instead. */
  bin?: string;
  /** The folder in the cache. */
  folder: string;
  /** The package's own script that puts the program of this platform in place. */
  installScript?: string;
  /** Whether its optional dependencies are left out, such as programs of their own. */
  withoutOptional?: boolean;
  /** The name of the resource in `VARVE_TEST_SKIP`. */
  resource: string;
}

/** Fetches a program or library when it is not in the cache, and gives its path. */
export function provisionNpmProgram(program: NpmProgram): string {
  const place = join(fileURLToPath(new URL("../.cache", import.meta.url)), program.folder, program.version);
  const modules = join(place, "node_modules");
  const packageFolder = join(modules, ...program.package.split("/"));
  const path = program.bin === undefined ? packageFolder : join(modules, ".bin", program.bin);
  const isReady = (): boolean => (program.bin === undefined ? existsSync(join(path, "package.json")) : works(path));
  if (isReady()) return path;
  const npm = findProgram("npm");
  if (npm === undefined) throw cannotProvision(program, "there is no npm to fetch it with");
  try {
    console.error(`Fetching ${program.title}.`);
    rmSync(place, { recursive: true, force: true });
    mkdirSync(place, { recursive: true });
    writeFileSync(join(place, "package.json"), JSON.stringify({ private: true }));
    const name = `${program.package}@${program.version}`;
    const omit = program.withoutOptional ? ["--omit=optional"] : [];
    execFileSync(npm, ["install", "--no-audit", "--no-fund", "--ignore-scripts", "--save-exact", ...omit, name], {
      cwd: place,
      stdio: ["ignore", "ignore", "pipe"],
    });
    if (program.installScript !== undefined) {
      // It is run here by name, whatever npm allows.
      execFileSync(process.execPath, [program.installScript], {
        cwd: packageFolder,
        stdio: ["ignore", "ignore", "pipe"],
      });
    }
  } catch (error) {
    throw cannotProvision(program, firstLine(error));
  }
  if (!isReady()) throw cannotProvision(program, "it was fetched and does not start");
  return path;
}

function works(path: string): boolean {
  if (!existsSync(path)) return false;
  try {
    execFileSync(path, ["--version"], { stdio: "ignore", timeout: 60_000 });
    return true;
  } catch {
    // It is fetched again; if it still does not start, the reason is reported.
    return false;
  }
}

function cannotProvision({ title, resource }: NpmProgram, reason: string): ProvisionError {
  return new ProvisionError(`${title} is not installed`, reason, {
    "To fetch it, run": `node_modules/.bin/node scripts/provision-${resource}.ts`,
    "To test without it": `VARVE_TEST_SKIP=${resource} npm test`,
  });
}

/** The body of a script that fetches one program. */
export function runProvisioning(title: string, provision: () => string): void {
  try {
    console.log(`${title} is ready: ${provision()}`);
  } catch (error) {
    console.error(error instanceof ProvisionError ? error.message : error);
    process.exitCode = 1;
  }
}

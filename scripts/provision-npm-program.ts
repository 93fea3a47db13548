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
  /** The name of its program. */
  bin: string;
  /** The folder in the cache. */
  folder: string;
  /** The package's own script that puts the program of this platform in place. */
  installScript?: string;
  /** The name of the resource in `VARVE_TEST_SKIP`. */
  resource: string;
}

/** Fetches a program when it is not in the cache, and gives its path. */
export function provisionNpmProgram(program: NpmProgram): string {
  const place = join(fileURLToPath(new URL("../.cache", import.meta.url)), program.folder, program.version);
  const path = join(place, "node_modules", ".bin", program.bin);
  if (works(path)) return path;
  const npm = findProgram("npm");
  if (npm === undefined) throw cannotProvision(program, "there is no npm to fetch it with");
  try {
    console.error(`Fetching ${program.title}.`);
    rmSync(place, { recursive: true, force: true });
    mkdirSync(place, { recursive: true });
    writeFileSync(join(place, "package.json"), JSON.stringify({ private: true }));
    const name = `${program.package}@${program.version}`;
    execFileSync(npm, ["install", "--no-audit", "--no-fund", "--ignore-scripts", "--save-exact", name], {
      cwd: place,
      stdio: ["ignore", "ignore", "pipe"],
    });
    if (program.installScript !== undefined) {
      // It is run here by name, whatever npm allows.
      const packageFolder = join(place, "node_modules", ...program.package.split("/"));
      execFileSync(process.execPath, [program.installScript], {
        cwd: packageFolder,
        stdio: ["ignore", "ignore", "pipe"],
      });
    }
  } catch (error) {
    throw cannotProvision(program, firstLine(error));
  }
  if (!works(path)) throw cannotProvision(program, "it was fetched and does not start");
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

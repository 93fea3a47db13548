/** Runs one part of `npm test`: a list of programs that must succeed, or a project of vitest. */
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { addCounts, type Counts, countVitest, noCounts } from "./test-counts.ts";

export const root = fileURLToPath(new URL("..", import.meta.url));

/** A program with its arguments; its success counts as one passed test. */
export type Check = readonly [program: string, ...args: string[]];

export async function runChecks(checks: readonly Check[]): Promise<Counts> {
  let counts = noCounts;
  for (const check of checks) {
    const command = check.join(" ");
    console.log(`$ ${command}`);
    const isPassed = (await runProgram(check)) === 0;
    if (!isPassed) console.error(`Failed: ${command}`);
    counts = addCounts(counts, isPassed ? { ...noCounts, passed: 1 } : { ...noCounts, failed: 1, failures: [command] });
  }
  return counts;
}

/** Builds the package, packs it as it would be published, and has the package file judged. */
export async function runPackageChecks(): Promise<Counts> {
  const folder = mkdtempSync(join(tmpdir(), "varve-package-"));
  try {
    const built = await runChecks([
      ["node", "scripts/build.ts"],
      ["node", "scripts/write-sbom.ts"],
      // The build has just run, so npm need not run it again before it packs.
      ["npm", "pack", "--ignore-scripts", "--silent", "--pack-destination", folder],
    ]);
    const file = readdirSync(folder).find((name) => name.endsWith(".tgz"));
    if (built.failed > 0 || file === undefined) return { ...built, failed: Math.max(1, built.failed) };
    const judged = await runChecks([
      ["publint", "run", join(folder, file), "--strict"],
      ["attw", join(folder, file), "--profile", "esm-only"],
    ]);
    return { ...judged, passed: built.passed + judged.passed };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A folder under `test/` may be empty while its suite is not written yet; that is said, and is no failure. */
export async function runVitest(
  project: string,
  env: NodeJS.ProcessEnv,
  files: readonly string[] = [],
): Promise<Counts> {
  if (project !== "unit" && !hasTests(join(root, "test", project))) {
    console.log(`There are no tests in test/${project} yet.`);
    return noCounts;
  }
  const report = join(root, ".cache", "test-reports", `${project}.json`);
  rmSync(report, { force: true });
  const check: Check = ["vitest", "run", "--project", project, "--reporter=default", "--reporter=json"];
  const exitCode = await runProgram([...check, `--outputFile.json=${report}`, ...files], env);
  return countVitest(existsSync(report) ? readFileSync(report, "utf8") : undefined, exitCode);
}

export function hasTests(folder: string, ending = ".test.ts"): boolean {
  return (
    existsSync(folder) &&
    readdirSync(folder, { recursive: true, encoding: "utf8" }).some((name) => name.endsWith(ending))
  );
}

/** The package's own programs come first on the PATH, including the pinned Node. */
async function runProgram([program, ...args]: Check, env = process.env): Promise<number | null> {
  const path = `${join(root, "node_modules", ".bin")}${delimiter}${env.PATH ?? ""}`;
  // A group of its own, so that a run that is called off takes along what it waits for, workers and all.
  const child = spawn(program, args, { cwd: root, stdio: "inherit", detached: true, env: { ...env, PATH: path } });
  const passOn = (signal: NodeJS.Signals) => {
    if (child.pid !== undefined) process.kill(-child.pid, signal);
    process.exit(signal === "SIGINT" ? 130 : 143);
  };
  process.once("SIGINT", passOn).once("SIGTERM", passOn);
  try {
    return await new Promise((resolve, reject) => child.once("error", reject).once("close", resolve));
  } catch (error) {
    console.error(`${program} could not be started: ${error instanceof Error ? error.message : error}`);
    return null;
  } finally {
    process.off("SIGINT", passOn).off("SIGTERM", passOn);
  }
}

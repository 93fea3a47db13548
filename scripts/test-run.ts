/** Runs one part of `npm test`: a list of programs that must succeed, or a project of vitest. */
import { type SpawnSyncOptions, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Counts, countVitest, noCounts } from "./test-counts.ts";

export const root = fileURLToPath(new URL("..", import.meta.url));

/** A program with its arguments; its success counts as one passed test. */
export type Check = readonly [program: string, ...args: string[]];

export function runChecks(checks: readonly Check[]): Counts {
  const counts = { ...noCounts };
  for (const check of checks) {
    console.log(`$ ${check.join(" ")}`);
    if (runProgram(check) === 0) counts.passed += 1;
    else {
      counts.failed += 1;
      console.error(`Failed: ${check.join(" ")}`);
    }
  }
  return counts;
}

/** Builds the package, packs it as it would be published, and has the package file judged. */
export function runPackageChecks(): Counts {
  const folder = mkdtempSync(join(tmpdir(), "varve-package-"));
  try {
    const built = runChecks([
      ["node", "scripts/build.ts"],
      // The build has just run, so npm need not run it again before it packs.
      ["npm", "pack", "--ignore-scripts", "--silent", "--pack-destination", folder],
    ]);
    const file = readdirSync(folder).find((name) => name.endsWith(".tgz"));
    if (built.failed > 0 || file === undefined) return { ...built, failed: Math.max(1, built.failed) };
    const judged = runChecks([
      ["publint", "run", join(folder, file), "--strict"],
      ["attw", join(folder, file), "--profile", "esm-only"],
    ]);
    return { ...judged, passed: built.passed + judged.passed };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A folder under `test/` may be empty while its suite is not written yet; that is said, and is no failure. */
export function runVitest(project: string, env: NodeJS.ProcessEnv): Counts {
  if (project !== "unit" && !hasTests(join(root, "test", project))) {
    console.log(`There are no tests in test/${project} yet.`);
    return noCounts;
  }
  const folder = mkdtempSync(join(tmpdir(), "varve-report-"));
  const report = join(folder, "report.json");
  try {
    const check: Check = ["vitest", "run", "--project", project, "--reporter=default", "--reporter=json"];
    const exitCode = runProgram([...check, `--outputFile.json=${report}`], { env });
    return countVitest(existsSync(report) ? readFileSync(report, "utf8") : undefined, exitCode);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

export function hasTests(folder: string, ending = ".test.ts"): boolean {
  return (
    existsSync(folder) &&
    readdirSync(folder, { recursive: true, encoding: "utf8" }).some((name) => name.endsWith(ending))
  );
}

/** The package's own programs come first, the pinned Node among them, whoever started us and how. */
function runProgram([program, ...args]: Check, options: SpawnSyncOptions = {}): number | null {
  const env = options.env ?? process.env;
  const path = `${join(root, "node_modules", ".bin")}${delimiter}${env.PATH ?? ""}`;
  const result = spawnSync(program, args, { cwd: root, stdio: "inherit", ...options, env: { ...env, PATH: path } });
  if (result.error !== undefined) console.error(`${program} could not be started: ${result.error.message}`);
  return result.status;
}

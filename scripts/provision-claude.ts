/** Makes sure that Claude Code is here, for the tests that drive the real one. It is too large to be a dependency. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { findProgram, firstLine, ProvisionError } from "./debian.ts";

const version = "2.1.325";
const folder = fileURLToPath(new URL("../.cache/claude-code", import.meta.url));

/** Brings Claude Code into the clone's cache when it is not there, and gives the path of its program. */
export function provisionClaude(): string {
  const program = join(folder, version, "node_modules", ".bin", "claude");
  if (works(program)) return program;
  const npm = findProgram("npm");
  if (npm === undefined) throw cannotProvision("there is no npm to fetch it with");
  const place = join(folder, version);
  try {
    console.error("Fetching Claude Code.");
    rmSync(place, { recursive: true, force: true });
    mkdirSync(place, { recursive: true });
    writeFileSync(join(place, "package.json"), JSON.stringify({ private: true }));
    const name = `@anthropic-ai/claude-code@${version}`;
    execFileSync(npm, ["install", "--no-audit", "--no-fund", "--ignore-scripts", "--save-exact", name], {
      cwd: place,
      stdio: ["ignore", "ignore", "pipe"],
    });
    // Its own script puts the program of this platform in place; it is run here by name, whatever npm allows.
    const packageFolder = join(place, "node_modules", "@anthropic-ai", "claude-code");
    execFileSync(process.execPath, ["install.cjs"], { cwd: packageFolder, stdio: ["ignore", "ignore", "pipe"] });
  } catch (error) {
    throw cannotProvision(firstLine(error));
  }
  if (!works(program)) throw cannotProvision("it was fetched and does not start");
  return program;
}

function works(program: string): boolean {
  if (!existsSync(program)) return false;
  try {
    execFileSync(program, ["--version"], { stdio: "ignore", timeout: 60_000 });
    return true;
  } catch {
    // It is fetched again; if it still does not start, the reason is reported.
    return false;
  }
}

function cannotProvision(reason: string): ProvisionError {
  return new ProvisionError("Claude Code is not installed", reason, {
    "To fetch it, run": "node_modules/.bin/node scripts/provision-claude.ts",
    "To test without it": "VARVE_TEST_SKIP=claude npm test",
  });
}

if (import.meta.main) {
  try {
    console.log(`Claude Code is ready: ${provisionClaude()}`);
  } catch (error) {
    console.error(error instanceof ProvisionError ? error.message : error);
    process.exitCode = 1;
  }
}

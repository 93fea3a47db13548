/** Enforces the order of the modules under `src/`: which may import which, and only through their `index.ts`. */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, posix, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { findCycles } from "./import-cycles.ts";
import { findImports, findValueStar } from "./source-imports.ts";

/** Each step may import the steps before it, and never a neighbour in its own. */
const steps: readonly (readonly string[])[] = [
  ["domain"],
  ["text"],
  ["authorization"],
  ["config"],
  ["store"],
  ["security"],
  ["models"],
  ["jobs"],
  ["transcript"],
  ["session", "search"],
  ["memory"],
  ["context"],
  ["imports"],
  ["tools"],
  ["turn"],
  ["maintenance"],
  // The files directly in `src/`: the façade that wires the modules.
  ["engine"],
  ["benchmarks", "cli", "http", "mcp", "proxy", "plugins", "managers"],
];
const surfaces = steps.at(-1) ?? [];
const surfacesMayImport = ["domain", "authorization", "config", "tools", "engine"];
/** The command line starts these, and the gateway serves MCP, the model proxy and the plugins' hooks. */
const surfacePairs: Readonly<Record<string, readonly string[]>> = {
  cli: ["benchmarks", "http", "mcp", "plugins"],
  http: ["mcp", "plugins", "proxy"],
};
const linesMax = 600;

/** A file's path under `src/`, with forward slashes, and its text. */
export interface SourceFile {
  path: string;
  text: string;
}

export interface Violation {
  path: string;
  line: number;
  message: string;
}

export function checkLayers(files: readonly SourceFile[]): Violation[] {
  const graph = new Map<string, { target: string; line: number }[]>();
  const violations: Violation[] = [];
  for (const file of files) {
    const imports = findImports(file.text);
    const local = imports.filter(({ specifier }) => specifier.startsWith("."));
    const targets = local.map(({ specifier, line }) => ({
      target: posix.join(posix.dirname(file.path), specifier),
      line,
    }));
    graph.set(file.path, targets);
    for (const { target, line } of targets) {
      const fault = checkImport(file.path, target);
      if (fault !== undefined) violations.push({ path: file.path, line, message: `imports ${target}: ${fault}` });
    }
    if (moduleName(file.path) === "domain" && !isTest(file.path)) {
      for (const { specifier, line } of imports.filter((one) => !local.includes(one))) {
        const message = `imports ${specifier}: domain imports nothing outside itself; move what needs it up a module`;
        violations.push({ path: file.path, line, message });
      }
    }
    violations.push(...checkFile(file));
  }
  for (const cycle of findCycles(graph)) {
    const message = `imports ${cycle.target}: that closes a cycle (${cycle.path.join(" → ")}); move what both need into a file of its own`;
    violations.push({ path: cycle.from, line: cycle.line, message });
  }
  return violations;
}

function checkImport(from: string, target: string): string | undefined {
  const [module, targetModule] = [moduleName(from), moduleName(target)];
  if (module === targetModule) return undefined;
  if (target.startsWith("..")) return "it is outside src, which is not part of the package; move it into a module";
  for (const name of [module, targetModule]) {
    if (stepIndex(name) === -1) {
      return `the module ${name} has no place in the order; add it to \`steps\` in scripts/check-layers.ts`;
    }
  }
  // Helpers of tests are exported to nobody.
  if (isTest(from) && target.endsWith(".test-util.ts")) return undefined;
  if (targetModule !== "engine" && target !== `${targetModule}/index.ts`) {
    return `other modules are imported through their index.ts only; import ${targetModule}/index.ts and export what is missing there`;
  }
  // A test may use modules above its own, for example to set up its data through the façade.
  if (isTest(from)) return undefined;
  return checkDirection(module, targetModule);
}

function checkDirection(module: string, target: string): string | undefined {
  if (module === "benchmarks") {
    return target === "engine" ? undefined : "benchmarks measure the public façade; import src/index.ts";
  }
  if (surfaces.includes(module)) {
    if (surfacesMayImport.includes(target) || surfacePairs[module]?.includes(target)) return undefined;
    return surfaces.includes(target)
      ? "a surface does not import another surface; move what both need to the engine"
      : "surfaces import only the engine, tools, domain and config; offer it on the engine";
  }
  if (stepIndex(target) < stepIndex(module)) return undefined;
  return stepIndex(target) === stepIndex(module)
    ? `${module} and ${target} are neighbours in one step; move what they share down`
    : `${target} comes after ${module}; hand it in as an argument, or move it down`;
}

function checkFile({ path, text }: SourceFile): Violation[] {
  const violations: Violation[] = [];
  const lines = text.split("\n").length - (text.endsWith("\n") ? 1 : 0);
  if (lines > linesMax) {
    const message = `has ${lines} lines: at most ${linesMax} are allowed; split it by idea`;
    violations.push({ path, line: linesMax + 1, message });
  }
  const star = posix.basename(path) === "index.ts" ? findValueStar(text) : undefined;
  if (star !== undefined) {
    const message = "has an `export *` of values: list the exported names";
    violations.push({ path, line: star, message });
  }
  return violations;
}

/** The first folder of a path; the files directly in `src/` are the engine. */
function moduleName(path: string): string {
  const end = path.indexOf("/");
  return end === -1 ? "engine" : path.slice(0, end);
}

function stepIndex(module: string): number {
  return steps.findIndex((step) => step.includes(module));
}

function isTest(path: string): boolean {
  return /\.test(?:-util)?\.ts$/.test(path);
}

function readSources(root: string): SourceFile[] {
  return readdirSync(root, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".ts"))
    .sort()
    .map((path) => ({ path: path.split(sep).join("/"), text: readFileSync(join(root, path), "utf8") }));
}

if (import.meta.main) {
  const files = readSources(join(dirname(fileURLToPath(import.meta.url)), "..", "src"));
  const violations = checkLayers(files);
  for (const { path, line, message } of violations) console.error(`src/${path}:${line}: ${message}`);
  if (violations.length > 0) process.exitCode = 1;
  else console.log(`The layers hold: ${files.length} files.`);
}

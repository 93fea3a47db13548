/** The order of the rooms under `src/`, enforced: who may import whom, and through which door. */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, posix, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { findCycles } from "./import-cycles.ts";
import { findImports, findValueStar } from "./source-imports.ts";

/** Each step may import the steps before it, and never a neighbour in its own. */
const steps: readonly (readonly string[])[] = [
  ["domain"],
  ["config", "tokens"],
  ["store", "models"],
  ["session", "transcript", "search"],
  ["context", "memory"],
  ["turn", "jobs"],
  ["tools"],
  // The files directly in `src/`: the façade that wires the rooms.
  ["engine"],
  ["bench", "cli", "http", "mcp", "proxy", "plugins", "managers"],
];
const surfaces = steps.at(-1) ?? [];
const surfacesMayImport = ["domain", "config", "tools", "engine"];
/** The command line starts these, and the gateway has doors for MCP, the model proxy and the plugins' hooks. */
const surfacePairs: Readonly<Record<string, readonly string[]>> = {
  cli: ["bench", "http", "mcp", "plugins"],
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
      const fault = faultOfImport(file.path, target);
      if (fault !== undefined) violations.push({ path: file.path, line, message: `imports ${target}: ${fault}` });
    }
    if (roomOf(file.path) === "domain" && !isTest(file.path)) {
      for (const { specifier, line } of imports.filter((one) => !local.includes(one))) {
        const message = `imports ${specifier}: domain imports nothing outside itself; move what needs it up a room`;
        violations.push({ path: file.path, line, message });
      }
    }
    violations.push(...faultsOfFile(file));
  }
  for (const cycle of findCycles(graph)) {
    const message = `imports ${cycle.target}: that closes a cycle (${cycle.path.join(" → ")}); move what both need into a file of its own`;
    violations.push({ path: cycle.from, line: cycle.line, message });
  }
  return violations;
}

function faultOfImport(from: string, target: string): string | undefined {
  const [room, targetRoom] = [roomOf(from), roomOf(target)];
  if (room === targetRoom) return undefined;
  if (target.startsWith("..")) return "it is outside src, which the package does not hold; move it into a room";
  for (const name of [room, targetRoom]) {
    if (stepOf(name) === -1) {
      return `the room ${name} has no place in the order; add it to \`steps\` in scripts/check-layers.ts`;
    }
  }
  if (targetRoom !== "engine" && target !== `${targetRoom}/index.ts`) {
    return `other rooms are entered by their index.ts only; import ${targetRoom}/index.ts and export what is missing there`;
  }
  // A test may look at a room from above, for example to set the stage through the façade.
  if (isTest(from)) return undefined;
  return faultOfDirection(room, targetRoom);
}

function faultOfDirection(room: string, target: string): string | undefined {
  if (surfaces.includes(room)) {
    if (surfacesMayImport.includes(target) || surfacePairs[room]?.includes(target)) return undefined;
    return surfaces.includes(target)
      ? "a surface does not import another surface; move what both need to the engine"
      : "surfaces import only the engine, tools, domain and config; offer it on the engine";
  }
  if (stepOf(target) < stepOf(room)) return undefined;
  return stepOf(target) === stepOf(room)
    ? `${room} and ${target} are neighbours in one step; move what they share down`
    : `${target} comes after ${room}; hand it in as an argument, or move it down`;
}

function faultsOfFile({ path, text }: SourceFile): Violation[] {
  const violations: Violation[] = [];
  const lines = text.split("\n").length - (text.endsWith("\n") ? 1 : 0);
  if (lines > linesMax) {
    const message = `has ${lines} lines: at most ${linesMax} are allowed; split it by idea`;
    violations.push({ path, line: linesMax + 1, message });
  }
  const star = posix.basename(path) === "index.ts" ? findValueStar(text) : undefined;
  if (star !== undefined) {
    const message = "has an `export *` of values: what a room shows is named; list the names";
    violations.push({ path, line: star, message });
  }
  return violations;
}

/** The first folder of a path; the files directly in `src/` are the engine. */
function roomOf(path: string): string {
  const end = path.indexOf("/");
  return end === -1 ? "engine" : path.slice(0, end);
}

function stepOf(room: string): number {
  return steps.findIndex((step) => step.includes(room));
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

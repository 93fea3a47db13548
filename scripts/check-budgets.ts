/**
 * Compares the size of the source and what its operations cost with `budgets.json`. A number above its budget fails: make
 * room, or raise the budget in a commit that says why. `--write` lowers the budgets to what is reached.
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { settings } from "../src/config/index.ts";
import { measureOperations, operationNames } from "./measure-operations.ts";
import { root } from "./test-run.ts";

interface OperationBudget {
  files: number;
  reads: number;
  writes: number;
  transactions: number;
}

interface Budgets {
  /** The budgets of one ingest, search, turn and compaction. */
  operations: Record<string, OperationBudget>;
  /** Lines of TypeScript in each module of `src/`, without tests. */
  lines: Record<string, number>;
  /** The number of settings. */
  settings: number;
}

const file = join(root, "scripts", "budgets.json");

function isCounted(name: string): boolean {
  return name.endsWith(".ts") && !/\.(?:test|test-util)\.ts$/.test(name);
}

/** The lines of every module; files directly in `src/` are the module `engine`. */
export function countLines(source: string): Record<string, number> {
  const lines: Record<string, number> = {};
  for (const path of readdirSync(source, { recursive: true, encoding: "utf8" }).filter(isCounted).sort()) {
    const [first = "", ...rest] = path.split(/[\\/]/);
    const module = rest.length === 0 ? "engine" : first;
    lines[module] = (lines[module] ?? 0) + readFileSync(join(source, path), "utf8").split("\n").length - 1;
  }
  return lines;
}

/** Every number of a tree by its path, such as `lines.search`. */
export function flatten(tree: object, prefix = ""): Map<string, number> {
  const found = new Map<string, number>();
  for (const [name, value] of Object.entries(tree)) {
    if (typeof value === "number") found.set(`${prefix}${name}`, value);
    else for (const [path, number] of flatten(value as object, `${prefix}${name}.`)) found.set(path, number);
  }
  return found;
}

/** The numbers that exceed their budget, or have none, as sentences. */
export function findExcess(budgets: object, measured: object): string[] {
  const allowed = flatten(budgets);
  return [...flatten(measured)].flatMap(([path, number]) => {
    const budget = allowed.get(path);
    if (budget === undefined) return [`${path} has no budget; it is ${number}`];
    return number > budget ? [`${path} is ${number}; its budget is ${budget}`] : [];
  });
}

/** Background work of a turn may fall into its time or not. */
const jitter = 4;

/** The budgets lowered to what was measured. */
export function lowerBudgets(budgets: Budgets, measured: Budgets): Budgets {
  const lower = <T extends object>(from: T, to: T, spare: number): T =>
    Object.fromEntries(
      Object.entries(to).map(([name, value]) => {
        const before = (from as Record<string, unknown>)[name];
        if (typeof value !== "number") return [name, lower((before ?? {}) as object, value as object, spare)];
        return [name, typeof before === "number" ? Math.min(before, value + spare) : value + spare];
      }),
    ) as T;
  const { turn, ...others } = measured.operations;
  return {
    operations: {
      ...lower(budgets.operations, others as Budgets["operations"], 0),
      ...lower(budgets.operations, { turn } as Budgets["operations"], jitter),
    },
    lines: lower(budgets.lines, measured.lines, 0),
    settings: Math.min(budgets.settings, measured.settings),
  };
}

async function measure(): Promise<Budgets> {
  const measured = await measureOperations(root);
  const operations = Object.fromEntries(
    operationNames.map((name) => {
      const { files, ...calls } = measured[name];
      return [name, { files: files.length, ...calls }];
    }),
  );
  return { operations, lines: countLines(join(root, "src")), settings: settings.length };
}

async function main(): Promise<void> {
  const budgets = JSON.parse(readFileSync(file, "utf8")) as Budgets;
  const measured = await measure();
  if (process.argv.includes("--write")) {
    writeFileSync(file, `${JSON.stringify(lowerBudgets(budgets, measured), null, 2)}\n`);
    return;
  }
  const excess = findExcess(budgets, measured);
  for (const one of excess) console.error(one);
  if (excess.length > 0) {
    console.error("Make room, or raise scripts/budgets.json in a commit that says why.");
    process.exitCode = 1;
    return;
  }
  const total = Object.values(measured.lines).reduce((sum, lines) => sum + lines, 0);
  console.log(`Within the budgets: ${total} lines, ${measured.settings} settings.`);
}

if (import.meta.main) await main();

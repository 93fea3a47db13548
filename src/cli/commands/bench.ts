import {
  attackKinds,
  benchAccess,
  benchAttack,
  benchContext,
  benchMemory,
  benchRecall,
  benchSpeed,
  benchTurns,
  type ContextBench,
  type MemoryBench,
  type RecallBench,
  type SpeedPart,
  speedParts,
} from "../../benchmarks/index.ts";
import { VarveError } from "../../domain/index.ts";
import { number, outputFor, table } from "../output.ts";
import { startProgress } from "../progress.ts";
import { type BenchFlags, parseSizes, turnsBench } from "./bench-flags.ts";
import { scaleCommand } from "./bench-scale.ts";
import { printWork } from "./bench-work.ts";

export async function benchCommand(what: string, flags: BenchFlags): Promise<void> {
  if (what === "all") return (await import("./bench-all.ts")).allCommand(flags);
  if (what === "context") return contextCommand(flags);
  if (what === "memory") return memoryCommand(flags);
  if (what === "turns") return turnsCommand(flags);
  if (what === "attack") return attackCommand(flags);
  if (what === "scale") return scaleCommand(flags);
  return what === "recall" ? recallCommand(flags) : speedCommand(flags);
}

async function recallCommand(flags: BenchFlags): Promise<void> {
  const output = outputFor(flags);
  const progress = startProgress("Measuring");
  const measured = await benchRecall({
    data: flags.data,
    only: flags.datasets?.split(",").map((name) => name.trim()),
    baselines: flags.baselines ?? true,
    database: flags.database,
    onProgress: (name, done, total) => progress.update(done, total, name),
  });
  progress.finish("Measured");
  output.show(
    table(
      ["DATASET", "VARIANT", "QUESTIONS", "R@5", "R@10", "R@20", "R@50", "NDCG@10", "MS P50", "MS P95"],
      recallRows(measured),
    ),
  );
  for (const [name, { unanswerable, auroc, markedWeak }] of Object.entries(measured.abstention)) {
    if (unanswerable === 0) continue;
    output.show(
      `${name}: ${unanswerable} unanswerable questions, ${(markedWeak * 100).toFixed(0)}% marked weak, AUROC ${auroc ?? "–"}`,
    );
  }
  output.result(measured);
}

function recallRows(measured: RecallBench): (string | number)[][] {
  const percent = (share: number | undefined) => ((share ?? 0) * 100).toFixed(1);
  const variants = { ...measured.baselines, "current settings": measured.datasets };
  return Object.keys(measured.datasets).flatMap((name) =>
    Object.entries(variants).flatMap(([variant, datasets]) => {
      const figures = datasets[name];
      if (!figures) return [];
      const { questions, recall, ndcg10, msPerQuery } = figures;
      const depths = ["5", "10", "20", "50"].map((depth) => percent(recall[depth]));
      return [[name, variant, questions, ...depths, ndcg10.toFixed(3), msPerQuery.p50, msPerQuery.p95]];
    }),
  );
}

async function memoryCommand(flags: BenchFlags): Promise<void> {
  const output = outputFor(flags);
  const progress = startProgress("Measuring");
  const measured = await benchMemory({
    data: flags.data,
    only: flags.datasets?.split(",").map((name) => name.trim()),
    database: flags.database,
    onProgress: (name, done, total) => progress.update(done, total, name),
  });
  progress.finish("Measured");
  output.show(
    table(
      ["PAIRS", "COUNT", "REPLACED P", "R", "REPEATED P", "R", "DIFFERENT KEPT", "CONFLICT KEPT", "LINKED"],
      pairRows(measured),
    ),
  );
  output.show("");
  output.show(table(["PROMPTS", "RELATED", "FOUND", "UNRELATED", "NOISE"], promptRows(measured)));
  if (Object.keys(measured.coverage).length > 0) {
    output.show("");
    output.show(table(["DATASET", "QUESTIONS", "COVERED", "MEMORIES PER 100 TURNS"], coverageRows(measured)));
  }
  output.result(measured);
}

const percentText = (share: number) => `${(share * 100).toFixed(1)}%`;

function pairRows({ pairs }: MemoryBench): (string | number)[][] {
  return Object.entries(pairs).map(([language, one]) => [
    language,
    one.pairs,
    ...[one.replacing.precision, one.replacing.recall, one.duplicates.precision, one.duplicates.recall].map(
      percentText,
    ),
    ...[one.differentKept, one.conflictKept, one.conflictLinked].map(percentText),
  ]);
}

function promptRows({ prompts }: MemoryBench): (string | number)[][] {
  return Object.entries(prompts).map(([language, one]) => [
    language,
    one.related,
    percentText(one.found),
    one.unrelated,
    percentText(one.noise),
  ]);
}

function coverageRows({ coverage }: MemoryBench): (string | number)[][] {
  return Object.entries(coverage).map(([name, one]) => [
    name,
    one.questions,
    percentText(one.covered),
    one.memoriesPer100Turns,
  ]);
}

function parseBudgets(text: string): number[] {
  const budgets = text.split(",").map((one) => Number(one.trim()));
  if (budgets.every((budget) => Number.isInteger(budget) && budget >= budgetMin)) return budgets;
  throw new VarveError("BAD_REQUEST", `--budgets ${text} is not a list of whole numbers from ${number(budgetMin)}.`, {
    remedy: "Use for example --budgets 4000,8000.",
  });
}

const budgetMin = 1_000;

async function contextCommand(flags: BenchFlags): Promise<void> {
  const output = outputFor(flags);
  const progress = startProgress("Measuring");
  const measured = await benchContext({
    data: flags.data,
    only: flags.datasets?.split(",").map((name) => name.trim()),
    budgets: flags.budgets === undefined ? undefined : parseBudgets(flags.budgets),
    onProgress: (name, done, total) => progress.update(done, total, name),
  });
  progress.finish("Measured");
  const rows = contextRows(measured);
  const headings = ["DATASET", "BUDGET", "EVIDENCE IN VIEW", "NEWEST WINDOW", "REACHABLE", "COMPRESSION", "PREFIX"];
  if (rows.length > 0 || measured.work === undefined) output.show(table(headings, rows));
  if (measured.work !== undefined) output.show(printWork(measured.work, flags.missing ?? false));
  output.result(measured);
}

function contextRows(measured: ContextBench): string[][] {
  const percent = (share: number) => `${(share * 100).toFixed(1)}%`;
  return Object.entries(measured.datasets).flatMap(([name, dataset]) =>
    Object.entries(dataset.budgets).map(([budget, figures]) => [
      name,
      number(Number(budget)),
      percent(figures.evidenceInView),
      percent(figures.windowBaseline),
      percent(figures.reachable),
      `${figures.compression.toFixed(1)}×`,
      percent(figures.prefixStability),
    ]),
  );
}

async function turnsCommand(flags: BenchFlags): Promise<void> {
  const output = outputFor(flags);
  const progress = startProgress("Running turns");
  const results = await benchTurns({
    ...turnsBench,
    thinkMs: flags.think ?? turnsBench.thinkMs,
    database: flags.database,
    onProgress: (name, done, total) => progress.update(done, total, `${name}, ${number(done)} of ${number(total)}`),
  });
  progress.finish("Measured");
  const rows = results.map(({ name, size, value, unit, ratio }) => [
    ...[name, number(size), value.toLocaleString("en-US"), unit],
    ratio ?? "",
  ]);
  output.show(table(["WHAT", "TURNS", "VALUE", "UNIT", "RATIO"], rows));
  output.result({ results });
}

/** Conversations under attack, then what the audit log and bound tokens cost. */
async function attackCommand(flags: BenchFlags): Promise<void> {
  const output = outputFor(flags);
  const parts = (flags.only ?? "attack,access").split(",").map((name) => name.trim());
  const kinds = attackKinds.filter((kind) => parts.includes("attack") || parts.includes(kind));
  const progress = startProgress("Running turns");
  const onPhase = (name: string): void => progress.update(0, 1, name);
  const seconds = flags.seconds ?? attackBench.seconds;
  const attacked = kinds.length > 0 ? await benchAttack({ ...attackBench, seconds, kinds, onPhase }) : undefined;
  const access = parts.includes("access")
    ? await benchAccess({ rounds: 500, onProgress: (done, total) => progress.update(done, total, "access") })
    : [];
  progress.finish("Measured");
  const results = [...(attacked?.results ?? []), ...access];
  const rows = results.map(({ name, size, value, unit, ratio }) => [name, number(size), value, unit, ratio ?? ""]);
  output.show(table(["WHAT", "COUNT", "VALUE", "UNIT", "RATIO"], rows));
  if (attacked) {
    const answers = Object.entries(attacked.answers).map(([status, count]) => `${status}: ${number(count)}`);
    output.show(
      `Hostile requests by answer: ${answers.join(", ")}. The gateway is ${attacked.alive ? "alive" : "dead"}.`,
    );
  }
  output.result({ ...attacked, results });
}

/** Twenty conversations and fifty attackers at once. */
const attackBench = { conversations: 20, attackers: 50, seconds: 15, latencyMs: 100, thinkMs: 150 };

function parseSpeedParts(text: string): SpeedPart[] {
  const names = text.split(",").map((name) => name.trim());
  const parts = speedParts.filter((part) => names.includes(part));
  if (parts.length === names.length) return parts;
  throw new VarveError("BAD_REQUEST", `--only ${text} names an unknown part of the benchmark.`, {
    remedy: `Use one or more of ${speedParts.join(", ")}, comma-separated.`,
  });
}

async function speedCommand(flags: BenchFlags): Promise<void> {
  const output = outputFor(flags);
  const sizes = parseSizes(flags);
  const progress = startProgress("Measuring");
  const measured = await benchSpeed({
    sizes,
    only: flags.only === undefined ? undefined : parseSpeedParts(flags.only),
    onProgress: (name, done, total) => progress.update(done, total, `${name}, ${number(done)} of ${number(total)}`),
  });
  progress.finish("Measured");
  const rows = measured.results.map((result) => [
    result.name,
    number(result.size),
    result.value.toLocaleString("en-US"),
    result.unit,
    result.ratio === undefined ? "" : `${(result.ratio * 100).toFixed(0)}%`,
  ]);
  output.show(table(["WHAT", "MESSAGES", "VALUE", "UNIT", "% OF BASELINE"], rows));
  output.result(measured);
}

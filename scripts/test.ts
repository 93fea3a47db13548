/**
 * Runs every check and every test for `npm test`, part by part.
 * `npm test -- --only unit,types` runs some parts; `VARVE_TEST_SKIP=postgres,browser,crash npm test` leaves some out.
 */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { ProvisionError } from "./debian.ts";
import { provisionAgentSdk } from "./provision-agent-sdk.ts";
import { provisionChromium } from "./provision-chromium.ts";
import { provisionClaude } from "./provision-claude.ts";
import { provisionCodex } from "./provision-codex.ts";
import { provisionLanggraph } from "./provision-langgraph.ts";
import { provisionMastra } from "./provision-mastra.ts";
import { provisionOpenClaw } from "./provision-openclaw.ts";
import { provisionPi } from "./provision-pi.ts";
import { type ScratchPostgres, startScratchPostgres } from "./scratch-postgres.ts";
import { addCounts, type Counts, noCounts, summaryLine } from "./test-counts.ts";
import { hasTests, root, runChecks, runPackageChecks, runVitest } from "./test-run.ts";
import { type PartName, type ResourceName, type Selection, selectParts } from "./test-selection.ts";

interface Stage {
  /** The environment of the test files. */
  env: NodeJS.ProcessEnv;
  /** Resources that could not be provided. Each is a failure. */
  missing: ResourceName[];
  postgres?: ScratchPostgres;
}

const parts: Readonly<Record<PartName, (stage: Stage) => Promise<Counts>>> = {
  lint: () =>
    runChecks([
      ["biome", "check", "."],
      ["node", "scripts/check-layers.ts"],
      ["node", "scripts/check-budgets.ts"],
      ["node", "scripts/check-supply-chain.ts"],
      ["knip"],
    ]),
  types: () =>
    runChecks([
      ["tsc", "--noEmit", "-p", "tsconfig.json"],
      ["tsc", "--noEmit", "-p", "console/tsconfig.json"],
    ]),
  package: () => runPackageChecks(),
  unit: ({ env }) => runVitest("unit", env),
  conformance: runConformance,
  crash: ({ env }) => runVitest("crash", env),
  hostile: ({ env }) => runVitest("hostile", env),
  e2e: ({ env }) => runVitest("e2e", env),
};
/** With PostgreSQL, what the tests sent to it is checked too: every statement must name its tenant. */
async function runConformance({ env }: Stage): Promise<Counts> {
  if (env.VARVE_TEST_POSTGRES_URL === undefined) return runVitest("conformance", env);
  const folder = join(root, ".cache", "statements");
  rmSync(folder, { recursive: true, force: true });
  const counts = await runVitest("conformance", { ...env, VARVE_TEST_STATEMENTS: folder });
  return addCounts(counts, await runChecks([["node", "scripts/check-tenants.ts", folder]]));
}

const partsOfTests: readonly PartName[] = ["unit", "conformance", "crash", "hostile", "e2e"];

async function main(): Promise<number> {
  const selection = selectParts(process.argv.slice(2), process.env.VARVE_TEST_SKIP);
  const stage = await setStage(selection);
  let counts: Counts = { ...noCounts, failed: stage.missing.length, skipped: selection.skippedParts.length };
  const lines: string[] = [];
  try {
    // The programs under test in the last parts are the built ones.
    if (!selection.parts.includes("package") && selection.parts.some((part) => part === "crash" || part === "e2e")) {
      await runChecks([["node", "scripts/build.ts"]]);
    }
    for (const part of selection.parts) {
      console.log(`\n── ${part} ──`);
      const startedAt = performance.now();
      const result = await parts[part](stage);
      const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
      lines.push(`${part.padEnd(12)} ${seconds.padStart(7)} s   ${summaryLine(result)}`);
      counts = addCounts(counts, result);
    }
  } finally {
    await stage.postgres?.stop();
  }
  if (counts.failures.length > 0) console.log(`\nFailed:\n${counts.failures.map((one) => `- ${one}`).join("\n")}`);
  console.log(`\n${[...lines, ...leftOutInWords(selection, stage.missing)].join("\n")}`);
  console.log(summaryLine(counts));
  return counts.failed === 0 ? 0 : 1;
}

/** Brings what the chosen parts need. What cannot be brought is a failure of its own, and the tests go on without it. */
async function setStage(selection: Selection): Promise<Stage> {
  const stage: Stage = { env: { ...process.env }, missing: [] };
  const skips = selection.skippedResources;
  if (skips.includes("postgres")) delete stage.env.VARVE_TEST_POSTGRES_URL;
  else if (!stage.env.VARVE_TEST_POSTGRES_URL && selection.parts.some((part) => partsOfTests.includes(part))) {
    await bring(stage, "postgres", async () => {
      stage.postgres = await startScratchPostgres();
      stage.env.VARVE_TEST_POSTGRES_URL = stage.postgres.url;
    });
  }
  if (skips.includes("browser")) delete stage.env.VARVE_TEST_CHROMIUM;
  else if (selection.parts.includes("e2e") && hasTests(join(root, "test", "e2e"), ".browser.test.ts")) {
    await bring(stage, "browser", () => {
      stage.env.VARVE_TEST_CHROMIUM ??= provisionChromium();
    });
  }
  if (skips.includes("claude")) delete stage.env.VARVE_TEST_CLAUDE;
  else if (selection.parts.includes("e2e")) {
    await bring(stage, "claude", () => {
      stage.env.VARVE_TEST_CLAUDE ??= provisionClaude();
    });
  }
  if (skips.includes("codex")) delete stage.env.VARVE_TEST_CODEX;
  else if (selection.parts.includes("e2e")) {
    await bring(stage, "codex", () => {
      stage.env.VARVE_TEST_CODEX ??= provisionCodex();
    });
  }
  if (skips.includes("openclaw")) delete stage.env.VARVE_TEST_OPENCLAW;
  else if (selection.parts.includes("e2e")) {
    await bring(stage, "openclaw", () => {
      stage.env.VARVE_TEST_OPENCLAW ??= provisionOpenClaw();
    });
  }
  if (skips.includes("pi")) delete stage.env.VARVE_TEST_PI;
  else if (selection.parts.includes("e2e")) {
    await bring(stage, "pi", () => {
      stage.env.VARVE_TEST_PI ??= provisionPi();
    });
  }
  if (skips.includes("agent-sdk")) delete stage.env.VARVE_TEST_AGENT_SDK;
  else if (selection.parts.includes("e2e")) {
    await bring(stage, "agent-sdk", () => {
      stage.env.VARVE_TEST_AGENT_SDK ??= provisionAgentSdk();
    });
  }
  if (skips.includes("langgraph")) delete stage.env.VARVE_TEST_LANGGRAPH;
  else if (selection.parts.includes("e2e")) {
    await bring(stage, "langgraph", () => {
      stage.env.VARVE_TEST_LANGGRAPH ??= provisionLanggraph();
    });
  }
  if (skips.includes("mastra")) delete stage.env.VARVE_TEST_MASTRA;
  else if (selection.parts.includes("e2e")) {
    await bring(stage, "mastra", () => {
      stage.env.VARVE_TEST_MASTRA ??= provisionMastra();
    });
  }
  return stage;
}

async function bring(stage: Stage, name: ResourceName, work: () => void | Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    stage.missing.push(name);
    // The tests need not try it again, each for itself.
    stage.env.VARVE_TEST_SKIP = [stage.env.VARVE_TEST_SKIP, name].filter(Boolean).join(",");
    console.error(error instanceof ProvisionError ? error.message : error);
  }
}

const testsOf: Readonly<Record<ResourceName, string>> = {
  postgres: "the tests against PostgreSQL",
  browser: "the tests in a browser",
  claude: "the tests with Claude Code",
  codex: "the tests with Codex",
  openclaw: "the tests with OpenClaw",
  pi: "the tests with pi",
  "agent-sdk": "the tests with the Agent SDK",
  langgraph: "LangGraph's own tests of checkpointers",
  mastra: "the tests with Mastra",
};

function leftOutInWords({ skippedParts, skippedResources }: Selection, missing: readonly ResourceName[]): string[] {
  return [
    ...missing.map((name) => `Failed: ${testsOf[name]} could not run, for the reason given at the top.`),
    ...skippedParts.map((part) => `The part ${part} was skipped on request.`),
    ...skippedResources.map((name) => `On request, ${testsOf[name]} were skipped.`),
  ];
}

try {
  process.exitCode = await main();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  console.log(summaryLine({ ...noCounts, failed: 1 }));
  process.exitCode = 1;
}

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { VarveError } from "../../domain/index.ts";
import {
  isPostgres,
  type Profile,
  type ResultKind,
  resultKinds,
  type SearchAnswer,
  startSpareThreads,
} from "../../index.ts";
import type { CommonOptions } from "../context.ts";
import { askGateway, findGateway } from "../hook/gateway-client.ts";
import { resolveHookHome } from "../hook/hook-home.ts";
import { number, outputFor, table, when } from "../output.ts";
import type { SearchQuestion } from "./search-question.ts";

export interface SearchFlags extends CommonOptions {
  kind?: string;
  session?: string;
  scope?: string[];
  since?: string;
  before?: string;
  limit?: number;
  minScore?: number;
  profile?: Profile;
  explain?: boolean;
  mode?: SearchMode;
}

type SearchMode = "instant" | "hybrid" | "text" | "vector";
const retrievers: Record<SearchMode, SearchQuestion["retrievers"]> = {
  instant: ["lexical", "vector"],
  hybrid: ["lexical", "vector"],
  text: ["lexical"],
  vector: ["vector"],
};

/** Asks the running gateway, which has the model loaded; without one, searches by keywords and instant vectors. */
export async function searchCommand(query: string, flags: SearchFlags): Promise<void> {
  const question: SearchQuestion = {
    query,
    retrievers: retrievers[flags.mode ?? "hybrid"],
    ...(flags.mode === "instant" ? { tier: "instant" } : {}),
    session: flags.session,
    kinds: flags.kind === undefined ? undefined : parseKinds(flags.kind),
    scopes: flags.scope,
    since: parseTime("--since", flags.since),
    before: parseTime("--before", flags.before),
    limit: flags.limit,
    minScore: flags.minScore,
    profile: flags.profile,
    explain: flags.explain,
  };
  const output = outputFor(flags);
  let answer = await searchByGateway(question, flags, (note) => output.say(`note: ${note}`));
  if (answer === undefined) {
    if (!mayUsePostgres(flags)) startSpareThreads(1);
    const { searchWithEngine } = await import("./search.ts");
    const withoutModel: SearchQuestion = flags.mode === undefined ? { ...question, tier: "instant" } : question;
    answer = await searchWithEngine(withoutModel, flags);
  }
  for (const result of answer.results) {
    output.show(`${result.citation}  ${when(result.time)}  ${result.score.toFixed(3)}  ${result.sessionKey ?? ""}`);
    output.show(`    ${result.snippet}`);
    for (const note of result.notes ?? []) output.show(`    (${note})`);
  }
  if (flags.explain) output.show(`\n${drawScores(answer)}`);
  output.say(describeOutcome(answer));
  output.result(answer);
}

const proofMs = 5_000;
const answerBytesMax = 256 * 1024 * 1024;

/** The gateway's answer; undefined when none runs for this home, or it cannot answer: then the engine is opened. */
async function searchByGateway(
  question: SearchQuestion,
  flags: SearchFlags,
  note: (text: string) => void,
): Promise<SearchAnswer | undefined> {
  // The gateway has its own database and settings: what this command was given is not known to it.
  if (flags.database !== undefined || hasOwnSettings()) return undefined;
  try {
    const gateway = findGateway(resolveHookHome(flags.home));
    if (gateway === undefined) return undefined;
    const agent = flags.agent === undefined ? "" : `?agent=${encodeURIComponent(flags.agent)}`;
    const path = `/api/search/answer${agent}`;
    const reply = await askGateway(gateway, { path, body: JSON.stringify(question), proofMs, answerBytesMax });
    if (reply.status === "answered") return reply.output as SearchAnswer;
    if (reply.status === "unproven") note(`${reply.because}; the database was searched directly`);
    return undefined;
  } catch (error) {
    note(`${error instanceof Error ? error.message : String(error)}; the database was searched directly`);
    return undefined;
  }
}

/** Whether the database may be on PostgreSQL, which needs no thread: a guess, before the settings are loaded. */
function mayUsePostgres({ database, home }: SearchFlags): boolean {
  const given = database ?? process.env.VARVE_DATABASE;
  if (given !== undefined) return isPostgres(given);
  try {
    return readFileSync(join(resolveHookHome(home), "config.yaml"), "utf8").includes("postgres");
  } catch {
    // Without a readable file the database is the one in the folder.
    return false;
  }
}

/** Whether environment variables change the settings of this process. */
function hasOwnSettings(): boolean {
  return Object.keys(process.env).some((name) => name.startsWith("VARVE_") && name !== "VARVE_HOME");
}

function describeTiers({ tiers }: SearchAnswer): string {
  if (!tiers.includes("instant")) return "";
  return tiers.length === 1 ? " (instant vectors)" : " (vectors of the model and instant vectors)";
}

function describeOutcome(answer: SearchAnswer): string {
  const lines = [
    answer.results.length === 0
      ? "Nothing found."
      : `${number(answer.results.length)} results, ${answer.mode}${describeTiers(answer)}, confidence ${answer.confidence}.`,
  ];
  const { time } = answer.understood;
  if (time) lines.push(`understood "${time.text}" as ${when(time.from)} – ${when(time.to)}`);
  for (const line of [...answer.degraded, ...answer.cut]) lines.push(`note: ${line}`);
  return lines.join("\n");
}

/** Draws a row for each result and a column for each ranking stage, and the duration of each step. */
function drawScores(answer: SearchAnswer): string {
  const stages = [...new Set(answer.results.flatMap((result) => Object.keys(result.stages ?? {})))];
  const rows = answer.results.map((result) => [
    result.citation,
    result.sources.join("+"),
    ...stages.map((stage) => result.stages?.[stage]?.toFixed(3) ?? "–"),
  ]);
  const steps = (answer.steps ?? []).map((step) => [step.name, step.ms.toFixed(1), step.candidates]);
  return `${table(["RESULT", "FOUND BY", ...stages.map((stage) => stage.toUpperCase())], rows)}\n\n${table(["STEP", "MS", "CANDIDATES"], steps)}`;
}

function parseKinds(text: string): ResultKind[] {
  const names = text.split(",").map((name) => name.trim());
  const unknown = names.find((name) => !resultKinds.some((kind) => kind === name));
  if (unknown !== undefined) {
    throw new VarveError("BAD_REQUEST", `--kind ${text}: "${unknown}" is not a kind of result.`, {
      remedy: `Use one or more of ${resultKinds.join(", ")}, comma-separated.`,
    });
  }
  return names as ResultKind[];
}

function parseTime(option: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const time = Date.parse(text);
  if (Number.isNaN(time)) {
    throw new VarveError("BAD_REQUEST", `${option} ${text} is not a date or time.`, {
      remedy: "Use a date such as 2026-03-15 or a time such as 2026-03-15T09:30:00Z.",
    });
  }
  return time;
}

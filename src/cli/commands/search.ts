import { availableParallelism } from "node:os";
import { VarveError } from "../../domain/index.ts";
import {
  type EmbeddingTier,
  type EmbedPendingOptions,
  type EmbedPendingResult,
  type Profile,
  type ResultKind,
  resultKinds,
  type SearchAnswer,
  type Varve,
} from "../../index.ts";
import { type CommonOptions, listenForInterrupt, withVarve } from "../context.ts";
import { number, table, when } from "../output.ts";
import { type Progress, startProgress } from "../progress.ts";

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

type SearchMode = "hybrid" | "text" | "vector";
const retrievers = { hybrid: ["lexical", "vector"], text: ["lexical"], vector: ["vector"] } as const;

export async function searchCommand(query: string, flags: SearchFlags): Promise<void> {
  const mode = flags.mode ?? "hybrid";
  const kinds = flags.kind === undefined ? undefined : parseKinds(flags.kind);
  const since = parseTime("--since", flags.since);
  const before = parseTime("--before", flags.before);
  await withVarve(
    flags,
    async (varve, output) => {
      const session = flags.session === undefined ? undefined : await varve.sessions.get(flags.session);
      const answer = await varve.search.find(query, {
        session,
        kinds,
        scopes: flags.scope,
        since,
        before,
        limit: flags.limit,
        minScore: flags.minScore,
        profile: flags.profile,
        explain: flags.explain,
        retrievers: [...retrievers[mode]],
      });
      for (const result of answer.results) {
        output.show(`${result.citation}  ${when(result.time)}  ${result.score.toFixed(3)}  ${result.sessionKey ?? ""}`);
        output.show(`    ${result.snippet}`);
        for (const note of result.notes ?? []) output.show(`    (${note})`);
      }
      if (flags.explain) output.show(`\n${drawScores(answer)}`);
      output.say(describeOutcome(answer));
      output.result(answer);
    },
    mode === "text" ? {} : { willSearch: query },
  );
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

function describeTiers({ tiers }: SearchAnswer): string {
  if (!tiers.includes("instant")) return "";
  return tiers.length === 1 ? " (instant vectors)" : " (vectors of the model and instant vectors)";
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

/** Embeds pending texts and shows the tier, the rate and the time left. */
export async function indexWithProgress(varve: Varve, options: EmbedPendingOptions): Promise<EmbedPendingResult> {
  const titles = { instant: "Instant vectors", model: "Embedding" } as const;
  const shown = new Map<EmbeddingTier, { progress: Progress; began: number }>();
  const done = await varve.search.index({
    ...options,
    onProgress({ tier, embedded, characters, pending }) {
      const one = shown.get(tier) ?? { progress: startProgress(titles[tier]), began: performance.now() };
      shown.set(tier, one);
      const seconds = Math.max(0.001, (performance.now() - one.began) / 1000);
      const rate = `${number(Math.round(embedded / seconds))} messages/s, about ${number(Math.round(characters / 4 / seconds))} tokens/s`;
      one.progress.update(embedded, embedded + pending, `${number(embedded)} messages, ${rate}`);
    },
  });
  for (const { progress } of shown.values()) progress.finish(done.status === "done" ? "Embedded" : "Stopped");
  return done;
}

export async function indexCommand(flags: CommonOptions): Promise<void> {
  const signal = listenForInterrupt();
  await withVarve(flags, async (varve, output) => {
    const files = await varve.search.sync({ signal });
    for (const note of files.notes) output.say(`note: ${note}`);
    const done = await indexWithProgress(varve, { signal, threads: availableParallelism() });
    const after = await varve.search.coverage();
    const because = done.because === undefined ? "" : ` (${done.because})`;
    output.say(
      `${done.status}${because}: ${number(done.embedded)} texts embedded, ${number(done.instant)} instant vectors added; ${number(after.vectors)} of ${number(after.messages)} messages have a vector of the model.`,
    );
    if (done.cutTexts > 0) {
      output.say(
        `${number(done.cutTexts)} texts are longer than the model's input; the rest of them is found by keywords only.`,
      );
    }
    output.result({ ...done, ...after, files });
  });
}

import { VarveError } from "../../domain/index.ts";
import { type Profile, type ResultKind, resultKinds, type SearchAnswer } from "../../engine.ts";
import { type CommonOptions, interruptible, withVarve } from "../context.ts";
import { number, table, when } from "../output.ts";
import { startProgress } from "../progress.ts";

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
  const kinds = flags.kind === undefined ? undefined : kindsIn(flags.kind);
  const since = timeIn("--since", flags.since);
  const before = timeIn("--before", flags.before);
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
      if (flags.explain) output.show(`\n${explained(answer)}`);
      output.say(summaryOf(answer));
      output.result(answer);
    },
    mode === "text" ? {} : { willSearch: query },
  );
}

function summaryOf(answer: SearchAnswer): string {
  const lines = [
    answer.results.length === 0
      ? "Nothing was found."
      : `${number(answer.results.length)} results, ${answer.mode}, confidence ${answer.confidence}.`,
  ];
  const { time } = answer.understood;
  if (time) lines.push(`understood "${time.text}" as ${when(time.from)} – ${when(time.to)}`);
  for (const line of [...answer.degraded, ...answer.cut]) lines.push(`note: ${line}`);
  return lines.join("\n");
}

/** A row for every result, a column for every stage: the score as it went. */
function explained(answer: SearchAnswer): string {
  const stages = [...new Set(answer.results.flatMap((result) => Object.keys(result.stages ?? {})))];
  const rows = answer.results.map((result) => [
    result.citation,
    result.sources.join("+"),
    ...stages.map((stage) => result.stages?.[stage]?.toFixed(3) ?? "–"),
  ]);
  const steps = (answer.steps ?? []).map((step) => [step.name, step.ms.toFixed(1), step.candidates]);
  return `${table(["RESULT", "FOUND BY", ...stages.map((stage) => stage.toUpperCase())], rows)}\n\n${table(["STEP", "MS", "CANDIDATES"], steps)}`;
}

function kindsIn(text: string): ResultKind[] {
  const names = text.split(",").map((name) => name.trim());
  const unknown = names.find((name) => !resultKinds.some((kind) => kind === name));
  if (unknown !== undefined) {
    throw new VarveError("BAD_REQUEST", `--kind ${text}: "${unknown}" is not a kind that can be searched.`, {
      remedy: `Send one or more of ${resultKinds.join(", ")}, with commas between.`,
    });
  }
  return names as ResultKind[];
}

function timeIn(option: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const time = Date.parse(text);
  if (Number.isNaN(time)) {
    throw new VarveError("BAD_REQUEST", `${option} ${text} is not a time.`, {
      remedy: "Send a date such as 2026-03-15 or a time such as 2026-03-15T09:30:00Z.",
    });
  }
  return time;
}

export async function indexCommand(flags: CommonOptions): Promise<void> {
  const signal = interruptible();
  await withVarve(flags, async (varve, output) => {
    const read = await varve.search.sync({ signal });
    for (const note of read.notes) output.say(`note: ${note}`);
    const before = await varve.search.coverage();
    const progress = startProgress("Embedding");
    const done = await varve.search.index({
      signal,
      onProgress: (embedded) => progress.update(before.vectors + embedded, before.messages, "messages"),
    });
    progress.finish("Embedded");
    const after = await varve.search.coverage();
    const because = done.because === undefined ? "" : ` (${done.because})`;
    output.say(
      `${done.status}${because}: ${number(done.embedded)} texts embedded, ${number(after.vectors)} of ${number(after.messages)} messages have a vector.`,
    );
    if (done.cutTexts > 0) {
      output.say(`${number(done.cutTexts)} texts were longer than what is embedded of one; words find all of them.`);
    }
    output.result({ ...done, ...after, files: read });
  });
}

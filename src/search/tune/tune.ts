import { roles } from "../../domain/index.ts";
import { isOfAgent } from "../../store/index.ts";
import { decodeEntryText } from "../documents.ts";
import type { SearchContext } from "../search-context.ts";
import type { SearchAnswer } from "../types.ts";
import { findExamples, type LoggedMessage, type TuningExample } from "./find-examples.ts";
import { fitWeights, measureRank, type RankedExample, type Weights } from "./fit-weights.ts";
import type { LearnedWeights } from "./learned-weights.ts";

export interface TuneResult {
  /** Why the weights were or were not changed. */
  outcome: "learned" | "not better" | "too few examples";
  /** Questions that were asked again, and answers that were corrected. */
  examples: { askedAgain: number; corrected: number };
  current: Weights;
  learned?: LearnedWeights;
}

export interface TuneOptions {
  agent: string;
  signal?: AbortSignal;
  onProgress?(done: number, total: number): void;
}

/** Fewer examples than this say nothing. */
const examplesMin = 20;
/** Newer examples are kept for checking: weights must help with what comes, not with what was. */
const checkedShare = 0.3;
/** The least gain in mean reciprocal rank: less may be luck. */
const gainMin = 0.01;
/** At most this many of the newest messages are read, and of the newest examples replayed. */
const messagesMax = 50_000;
const examplesMax = 400;
const candidatesMax = 50;
const pageRows = 1_000;

/** Replays searches as of just before a question was asked again or an answer corrected, and fits the weights to them. */
export async function tuneWeights(
  context: SearchContext,
  current: Weights,
  replay: (example: TuningExample, limit: number) => Promise<SearchAnswer>,
  { agent, signal, onProgress }: TuneOptions,
): Promise<TuneResult> {
  const found = findExamples(await readMessages(context, agent, signal)).slice(-examplesMax);
  const examples = {
    askedAgain: found.filter(({ kind }) => kind === "asked again").length,
    corrected: found.filter(({ kind }) => kind === "corrected").length,
  };
  const ranked: RankedExample[] = [];
  for (const [index, example] of found.entries()) {
    signal?.throwIfAborted();
    const { results } = await replay(example, candidatesMax);
    const relevant = results.map(({ seq }) => seq !== undefined && example.relevant.includes(seq));
    if (relevant.some(Boolean)) ranked.push({ candidates: results.map((one) => one.features ?? {}), relevant });
    onProgress?.(index + 1, found.length);
  }
  if (ranked.length < examplesMin) return { outcome: "too few examples", examples, current };
  const checkedFrom = Math.floor(ranked.length * (1 - checkedShare));
  const [fitted, checked] = [ranked.slice(0, checkedFrom), ranked.slice(checkedFrom)];
  const weights = fitWeights(fitted, current);
  const learned: LearnedWeights = {
    weights,
    fitted: fitted.length,
    checked: checked.length,
    before: round(measureRank(checked, current)),
    after: round(measureRank(checked, weights)),
    learnedAt: context.store.clock.now(),
  };
  const isBetter = learned.after - learned.before >= gainMin;
  return { outcome: isBetter ? "learned" : "not better", examples, current, learned };
}

/** The newest messages of an agent, in order. */
async function readMessages(context: SearchContext, agent: string, signal?: AbortSignal): Promise<LoggedMessage[]> {
  const { store } = context;
  const messages: LoggedMessage[] = [];
  for (let before = Number.MAX_SAFE_INTEGER; messages.length < messagesMax; ) {
    signal?.throwIfAborted();
    const rows = await store.db
      .selectFrom("entries")
      .select(["seq", "conversation", "time", "kind", "payload"])
      .where("seq", "<", before)
      .where("kind", "in", [...roles])
      .where(isOfAgent(store, agent))
      .orderBy("seq", "desc")
      .limit(pageRows)
      .execute();
    for (const { seq, conversation, time, kind, payload } of rows) {
      if (kind === "user" || kind === "assistant") {
        messages.push({ seq, conversation, time, role: kind, text: decodeEntryText(kind, payload).text });
      }
    }
    const last = rows.at(-1);
    if (!last || rows.length < pageRows) break;
    before = last.seq;
  }
  return messages.reverse();
}

function round(value: number): number {
  return Math.round(value * 1_000) / 1_000;
}

import { availableParallelism } from "node:os";
import type { EmbeddingTier, EmbedPendingOptions, EmbedPendingResult, SearchAnswer, Varve } from "../../index.ts";
import { type CommonOptions, listenForInterrupt, withVarve } from "../context.ts";
import { number } from "../output.ts";
import { type Progress, startProgress } from "../progress.ts";
import type { SearchQuestion } from "./search-question.ts";

/** A command that loads no model is meant to be fast: of a long history it compares what it can add and read in this time. */
const coldWaitMs = 90;

/** Searches in this process. The model is loaded only where the question does not ask for instant vectors. */
export function searchWithEngine(question: SearchQuestion, flags: CommonOptions): Promise<SearchAnswer> {
  const { query, session: key, ...options } = question;
  const usesModel = options.tier !== "instant" && options.retrievers.includes("vector");
  return withVarve(
    flags,
    async (varve) => {
      const session = key === undefined ? undefined : await varve.sessions.get(key);
      return varve.search.find(query, {
        ...options,
        mayLag: true,
        session,
        ...(usesModel ? {} : { vectorWaitMs: coldWaitMs }),
      });
    },
    { isShortLived: true, ...(usesModel ? { willSearch: query } : {}) },
  );
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

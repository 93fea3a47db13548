import type { LearnedWeights, TuneResult } from "../../index.ts";
import { type CommonOptions, listenForInterrupt, withVarve } from "../context.ts";
import { number, table } from "../output.ts";
import { startProgress } from "../progress.ts";

export interface TuneFlags extends CommonOptions {
  dryRun?: boolean;
  show?: boolean;
  undo?: boolean;
}

export async function tuneCommand(flags: TuneFlags): Promise<void> {
  const signal = listenForInterrupt();
  await withVarve(flags, async (varve, output) => {
    if (flags.undo) {
      const removed = await varve.search.forgetLearned();
      output.say(
        removed ? "The learned weights are removed; the settings apply again." : "There are no learned weights.",
      );
      output.result({ removed });
      return;
    }
    if (flags.show) {
      const learned = await varve.search.learned();
      output.say(learned ? describeLearned(learned) : "There are no learned weights; the settings apply.");
      output.result({ learned: learned ?? null });
      return;
    }
    const progress = startProgress("Replaying");
    const result = await varve.search.tune({
      agent: flags.agent,
      dryRun: flags.dryRun,
      signal,
      onProgress: (done, total) => progress.update(done, total, `${number(done)} of ${number(total)} questions`),
    });
    progress.finish("Replayed");
    output.show(drawWeights(result));
    output.say(describeOutcome(result, flags.dryRun === true));
    output.result(result);
  });
}

function describeOutcome({ outcome, examples, learned }: TuneResult, isDryRun: boolean): string {
  const { askedAgain, corrected } = examples;
  const found = `${number(askedAgain)} questions were asked again, ${number(corrected)} answers were corrected.`;
  if (outcome === "too few examples" || !learned) {
    return `${found} That is too few to learn from: at least 20 with an answer in the history are needed. Nothing was changed.`;
  }
  const gain = `Mean reciprocal rank of ${number(learned.checked)} questions that were kept for checking: ${learned.before} before, ${learned.after} with the learned weights.`;
  if (outcome === "not better") return `${found}\n${gain}\nThat is not better, so nothing was changed.`;
  const use = isDryRun
    ? "Nothing was changed; without --dry-run these weights are used."
    : "Searches use these weights from now on; `varve tune --undo` removes them.";
  return `${found}\n${gain}\n${use}`;
}

function describeLearned(learned: LearnedWeights): string {
  const { fitted, checked, before, after, learnedAt } = learned;
  const weights = Object.entries(learned.weights).map(([name, value]) => `${name} ${value}`);
  return `Learned on ${new Date(learnedAt).toISOString().slice(0, 10)} from ${number(fitted)} questions; on ${number(checked)} others the mean reciprocal rank went from ${before} to ${after}.\n${weights.join(", ")}\n\`varve tune --undo\` removes them.`;
}

function drawWeights({ current, learned }: TuneResult): string {
  const rows = Object.entries(current).map(([name, value]) => [
    name,
    value,
    learned?.weights[name as keyof typeof current] ?? "–",
  ]);
  return table(["WEIGHT", "CURRENT", "LEARNED"], rows);
}

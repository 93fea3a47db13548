import { type Admission, type AdmissionPreset, admit } from "../admission.ts";
import { dayMs } from "../decay.ts";
import type { Decision } from "../decisions.ts";
import { categories } from "../memory.ts";
import type { MemoryContext } from "../memory-context.ts";
import { type Candidate, findSimilar, likeness } from "../similar-memories.ts";
import { comparable, decideByModel, decideByRules, shownMax } from "./decide.ts";
import { judge } from "./judge.ts";
import { readable, splitSentences, type Utterance } from "./utterances.ts";

/** A candidate with what is to become of it. */
export type Reconciled =
  | { candidate: Candidate; outcome: "write"; decision: Decision; admission?: Admission; earlier?: number }
  | { candidate: Candidate; outcome: "hold" | "reject"; admission: Admission };

export interface Reconciliation {
  items: Reconciled[];
  calls: number;
  tokens: number;
  notes: string[];
}

export interface ReconcileOptions {
  scope: string;
  spoken: readonly Utterance[];
  admission?: AdmissionPreset;
  /** How many calls of a model are left. */
  callsMax: number;
  signal?: AbortSignal;
}

/** Holds candidates against the store, one by one, and decides. Models are asked here, outside of any transaction. */
export async function reconcile(
  context: MemoryContext,
  candidates: readonly Candidate[],
  options: ReconcileOptions,
): Promise<Reconciliation> {
  const result: Reconciliation = { items: [], calls: 0, tokens: 0, notes: [] };
  const utility = await utilities(context, candidates, options, result);
  for (const [index, candidate] of candidates.entries()) {
    const near = await findSimilar(context.store, options.scope, candidate, {
      limit: Math.max(options.admission?.pool ?? 0, shownMax),
      embeddings: context.embeddings,
    });
    const admission = options.admission && admissionOf(context, candidate, near, utility[index], options);
    if (admission && admission.outcome !== "admit") {
      result.items.push({ candidate, outcome: admission.outcome, admission });
      continue;
    }
    const earlier = earlierValue(candidates, index);
    const decision =
      earlier === undefined
        ? await decide(context, candidate, comparable(near, candidate), admission, options, result)
        : { kind: "supersede" as const, label: candidate.draft.label, reason: "another value of the same fact" };
    result.items.push({ candidate, outcome: "write", decision, admission, earlier });
  }
  return result;
}

/** An earlier candidate of the same batch that gives the same fact another value: it is not in the store yet. */
function earlierValue(candidates: readonly Candidate[], index: number): number | undefined {
  const draft = candidates[index]?.draft;
  if (!draft?.factKey || !categories[draft.category].versioned) return undefined;
  const found = candidates
    .slice(0, index)
    .findLastIndex((one) => one.draft.factKey === draft.factKey && one.draft.category === draft.category);
  return found === -1 ? undefined : found;
}

async function utilities(
  context: MemoryContext,
  candidates: readonly Candidate[],
  { admission, callsMax, signal }: ReconcileOptions,
  result: Reconciliation,
): Promise<(number | undefined)[]> {
  if (!admission || !context.generate || candidates.length === 0 || callsMax < 1) return [];
  try {
    result.calls += 1;
    const judged = await judge(
      context.generate,
      candidates.map((one) => one.draft),
      signal,
    );
    result.tokens += judged.tokens;
    return judged.utility;
  } catch (error) {
    signal?.throwIfAborted();
    result.notes.push(`the use of the candidates was not judged: ${error instanceof Error ? error.message : error}`);
    return [];
  }
}

function admissionOf(
  context: MemoryContext,
  { draft }: Candidate,
  near: Awaited<ReturnType<typeof findSimilar>>,
  utility: number | undefined,
  { admission, spoken }: ReconcileOptions,
): Admission | undefined {
  const now = context.store.clock.now();
  const pool = near.map((one) => ({ similarity: likeness(one), ageDays: (now - one.memory.createdAt) / dayMs }));
  const named = spoken.filter((one) => draft.sources.some((source) => source.seq === one.seq));
  const spans = named.flatMap((one) => [
    readable(one),
    ...splitSentences(one).map(({ start, end }) => one.text.slice(start, end)),
  ]);
  return admission && admit({ category: draft.category, text: draft.abstract, spans, utility, pool }, admission);
}

async function decide(
  context: MemoryContext,
  candidate: Candidate,
  near: Awaited<ReturnType<typeof findSimilar>>,
  admission: Admission | undefined,
  { callsMax, signal }: ReconcileOptions,
  result: Reconciliation,
): Promise<Decision> {
  if (near.length === 0) return { kind: "create", label: candidate.draft.label, reason: "nothing like it is known" };
  if (!context.generate) return decideByRules(candidate, near);
  if (result.calls >= callsMax) {
    result.notes.push("the calls of the hour are used up; the built-in rules reconciled the rest");
    return decideByRules(candidate, near);
  }
  result.calls += 1;
  const told = await decideByModel(context.generate, candidate, near, admission?.hint, signal);
  result.tokens += told.tokens;
  if (told.decision) return told.decision;
  result.notes.push(`a decision could not be used (${told.fault}); the built-in rules decided`);
  return decideByRules(candidate, near);
}

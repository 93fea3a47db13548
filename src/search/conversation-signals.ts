import { divideByLargest } from "./features.ts";
import type { Candidate } from "./fuse.ts";
import type { RankingSettings } from "./ranking.ts";
import type { RankingHints } from "./ranking-hints.ts";
import type { Pool } from "./retrieve.ts";

/** A longer pause between two messages of a conversation ends a sitting. */
const pauseMs = 2 * 3_600_000;
/** A question at the end of a message is for the next one. */
const questionCharacters = 300;

/** The signals that only lower a score. */
const penalties = ["question", "reaction"] as const;
const bonuses = ["sitting", "answer", "firstHand", "standing"] as const;
type SignalName = (typeof bonuses)[number] | (typeof penalties)[number];

/**
 * Adds what the other candidates say about each: people stay with a subject for a sitting, so a message of the sitting
 * with the best match is likelier to belong to the answer; and a message after a matching question likely answers it.
 * Then what the message itself is: told at first hand, a lasting wish, only a question, only a reaction.
 * A signal that is the same for all candidates is left out together with its weight, so that scores stay comparable with
 * those of other searches. `whole` is the sum of the weights in the scores so far.
 */
export function addConversationSignals(
  candidates: readonly Candidate[],
  pool: Pool,
  whole: number,
  weights: Pick<RankingSettings["weights"], SignalName>,
  hints?: Pick<RankingHints, "firstHand" | "standing" | "question" | "reaction">,
): void {
  if (candidates.length === 0) return;
  const shares = divideByLargest(candidates.map(({ score }) => score));
  const sittings = groupBySitting(candidates);
  const best = new Map<number, number>();
  for (const [index, sitting] of sittings.entries()) {
    best.set(sitting, Math.max(best.get(sitting) ?? 0, shares[index] as number));
  }
  const weakest = Math.min(...best.values());
  const shareByPlace = new Map(candidates.map((candidate, index) => [candidate.index, shares[index] as number]));
  for (const [index, { index: place, features }] of candidates.entries()) {
    const before = pool.before[place] ?? -1;
    features.sitting = (best.get(sittings[index] as number) ?? 0) - weakest;
    features.answer = asksQuestion(pool.docs[before]?.text) ? (shareByPlace.get(before) ?? 0) : 0;
    features.firstHand = hints?.firstHand[place] ?? 0;
    features.standing = Number(hints?.standing[place] ?? 0);
    features.question = hints?.question[place] ? -1 : 0;
    features.reaction = hints?.reaction[place] ? -1 : 0;
  }
  const used = bonuses.filter((name) => candidates.some(({ features }) => features[name]));
  const added = used.reduce((sum, name) => sum + weights[name], whole);
  for (const candidate of candidates) {
    const signals = [...used, ...penalties].reduce(
      (sum, name) => sum + weights[name] * (candidate.features[name] ?? 0),
      0,
    );
    candidate.score = (candidate.score * whole + signals) / added;
  }
}

/** A number for each candidate, the same for messages of one sitting. Other documents have one of their own. */
function groupBySitting(candidates: readonly Candidate[]): number[] {
  const sittings = candidates.map((_, index) => index);
  const messages = candidates.flatMap(({ doc }, index) => (doc.kind === "message" ? [{ doc, index }] : []));
  messages.sort((a, b) => (a.doc.conversation ?? 0) - (b.doc.conversation ?? 0) || (a.doc.seq ?? 0) - (b.doc.seq ?? 0));
  for (const [at, { doc, index }] of messages.entries()) {
    const previous = messages[at - 1];
    if (previous?.doc.conversation !== doc.conversation || doc.time - previous.doc.time > pauseMs) continue;
    sittings[index] = sittings[previous.index] as number;
  }
  return sittings;
}

function asksQuestion(text: string | undefined): boolean {
  return text !== undefined && /[?？؟]/u.test(text.slice(-questionCharacters));
}

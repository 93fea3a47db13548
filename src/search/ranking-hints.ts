import { scoreTimeFit, type TimeSpan } from "../text/index.ts";
import { type Doc, isSpeakerName } from "./documents.ts";
import { ranking } from "./ranking.ts";
import type { Retrieval } from "./retrieve.ts";
import { readTraits } from "./text/message-traits.ts";

/** Ranking features other than matching words and vectors; lists are by pool index. */
export interface RankingHints {
  /** Whether the query names the speaker. */
  speaker: readonly boolean[];
  /** Whether the query is about the user and the message is theirs. */
  firstPerson: readonly boolean[];
  /** From 0 to 1: the speaker of the message tells of themselves. */
  firstHand: readonly number[];
  /** Whether the query asks for help and the message says how the user wants to be helped. */
  standing: readonly boolean[];
  /** Whether the message only asks, in a conversation of people. */
  question: readonly boolean[];
  /** Whether the user only reacts to a reply. */
  reaction: readonly boolean[];
  /** The additional weight of the message's own words: high for a query of one or two words, 0 for a question. */
  wordWeight: number;
  /** How well the time matches the one named in the query; absent when it names none. */
  time?: readonly number[];
}

/** Summaries and files are told by nobody: they are ranked neither before nor after messages for it. */
const firstHandOfOthers = 0.5;

export function makeRankingHints(found: Retrieval, time: TimeSpan | undefined): RankingHints {
  const { pool, parsed, candidates } = found;
  const { docs } = pool;
  const hints = {
    speaker: docs.map((doc) => parsed.terms.some(({ term }) => isSpeakerName(doc, term))),
    firstPerson: docs.map((doc) => parsed.aboutSelf && doc.role === "user"),
    firstHand: docs.map(() => firstHandOfOthers),
    standing: docs.map(() => false),
    question: docs.map(() => false),
    reaction: docs.map(() => false),
    wordWeight: ranking.shortQueryWeights[parsed.terms.filter((term) => !term.isInstruction).length] ?? 0,
    ...(time ? { time: docs.map((doc) => scoreTimeFit(time, doc.time)) } : {}),
  };
  const answered = new Set(docs.filter((doc) => doc.role === "assistant").map((doc) => doc.conversation));
  for (const index of candidates) {
    const doc = docs[index] as Doc;
    if (doc.kind !== "message") continue;
    const traits = readTraits(doc, doc.text);
    const isToAssistant = doc.role === "user" && answered.has(doc.conversation);
    hints.firstHand[index] = traits.firstHand;
    hints.standing[index] = parsed.asksForHelp && isToAssistant && traits.isStandingRequest;
    hints.question[index] = !answered.has(doc.conversation) && traits.isQuestion;
    hints.reaction[index] = isToAssistant && traits.isReaction;
  }
  return hints;
}

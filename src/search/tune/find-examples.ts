import { endsInQuestion } from "../../text/index.ts";
import { countTerms } from "../text/count-terms.ts";

/** A message of a person or of the agent, as far as learning from it is concerned. */
export interface LoggedMessage {
  seq: number;
  conversation: number;
  time: number;
  role: string;
  text: string;
}

/** A query that was asked at a time, and the earlier messages that would have answered it. */
export interface TuningExample {
  kind: "asked again" | "corrected";
  query: string;
  conversation: number;
  /** Only messages before this time existed. */
  before: number;
  relevant: readonly number[];
}

/** Two questions with this share of their words in common are the same question. */
const sameShare = 0.6;
/** A question that is repeated at once was not answered from memory: this much time must lie between. */
const pauseMs = 30 * 60_000;
const wordsMin = 3;
const questionCharactersMax = 400;
/** The share of a correction's words that the message with the right fact must contain. */
const factShare = 0.5;
/** A question is compared with this many earlier ones at most, a correction with this many earlier messages. */
const questionsMax = 5_000;
const lookBack = 20_000;

/** In the languages of the extraction rules: words that correct the agent. */
const correction =
  /^\s*(?:no\b|nope\b|wrong\b|that'?s (?:wrong|not)|that is (?:wrong|not)|actually\b|i (?:already )?(?:told|said)|as i said|nein\b|falsch\b|das stimmt nicht|ich (?:habe|hatte) (?:dir )?(?:doch )?gesagt|non\b|c'est faux|je t'ai (?:déjà )?dit|ya te dije|está mal|não\b|já te disse|ti ho (?:già )?detto|sbagliato)/i;

/** Finds questions that were asked again and answers that were corrected, in messages in order of time. */
export function findExamples(messages: readonly LoggedMessage[]): TuningExample[] {
  const words = new Map(messages.map((message) => [message.seq, readWords(message.text)]));
  const examples: TuningExample[] = [];
  /** The places of the questions so far. */
  const questions: number[] = [];
  for (const [index, message] of messages.entries()) {
    if (message.role !== "user") continue;
    const asks = isQuestion(message.text);
    const example = asks
      ? findEarlierAnswer(messages, index, questions, words)
      : findCorrectedFact(messages, index, words);
    if (example) examples.push(example);
    if (asks) questions.push(index);
  }
  return examples;
}

/** The reply to the most similar earlier question, the latest of several. */
function findEarlierAnswer(
  messages: readonly LoggedMessage[],
  index: number,
  questions: readonly number[],
  words: ReadonlyMap<number, ReadonlySet<string>>,
): TuningExample | undefined {
  const asked = messages[index] as LoggedMessage;
  const own = words.get(asked.seq) ?? new Set();
  if (own.size < wordsMin) return undefined;
  let best: { similarity: number; relevant: number[] } | undefined;
  for (const at of questions.slice(-questionsMax).reverse()) {
    const earlier = messages[at] as LoggedMessage;
    if (asked.time - earlier.time < pauseMs) continue;
    const other = words.get(earlier.seq) ?? new Set();
    const similarity = countShared(own, other) / Math.max(own.size, other.size);
    if (similarity < sameShare || similarity <= (best?.similarity ?? 0)) continue;
    const reply = messages.slice(at + 1, index).find((one) => one.conversation === earlier.conversation);
    if (reply?.role === "assistant") best = { similarity, relevant: [earlier.seq, reply.seq] };
  }
  const { text: query, conversation, time: before } = asked;
  return best && { kind: "asked again", query, conversation, before, relevant: best.relevant };
}

/** For "No, it is on Friday.": the question before the wrong answer, and the earlier message with these words. */
function findCorrectedFact(
  messages: readonly LoggedMessage[],
  index: number,
  words: ReadonlyMap<number, ReadonlySet<string>>,
): TuningExample | undefined {
  const message = messages[index] as LoggedMessage;
  if (!correction.test(message.text)) return undefined;
  const same = messages
    .slice(Math.max(0, index - 20), index)
    .filter((one) => one.conversation === message.conversation);
  const [question, answer] = same.slice(-2);
  if (answer?.role !== "assistant" || question?.role !== "user" || !isQuestion(question.text)) return undefined;
  const fact = words.get(message.seq) ?? new Set();
  if (fact.size < 2) return undefined;
  let best: { seq: number; share: number } | undefined;
  for (let at = index - 1; at >= Math.max(0, index - lookBack); at -= 1) {
    const earlier = messages[at] as LoggedMessage;
    if (earlier.time >= question.time || earlier.seq === question.seq) continue;
    const share = countShared(fact, words.get(earlier.seq)) / fact.size;
    if (share >= factShare && share > (best?.share ?? 0)) best = { seq: earlier.seq, share };
  }
  if (!best) return undefined;
  const { text: query, conversation, time: before } = question;
  return { kind: "corrected", query, conversation, before, relevant: [best.seq] };
}

function isQuestion(text: string): boolean {
  return text.length <= questionCharactersMax && endsInQuestion(text);
}

function readWords(text: string): ReadonlySet<string> {
  return new Set(countTerms(text.slice(0, 2_000), "").keys());
}

function countShared(a: ReadonlySet<string>, b: ReadonlySet<string> | undefined): number {
  let shared = 0;
  for (const word of a) if (b?.has(word)) shared += 1;
  return shared;
}

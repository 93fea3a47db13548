import type { Step } from "./steps.ts";
import { findContentWords, splitTypedSentences } from "./text.ts";
import { dropPastedLines } from "./typed-text.ts";

export interface RequestItem {
  /** The first one or two sentences that the person typed. */
  text: string;
}

const sentencesMax = 2;

/** The person's requests, in order. Confirmations, greetings and bare slash commands are not requests. */
export function findRequests(steps: readonly Step[]): RequestItem[] {
  const requests = steps.flatMap((step) => (step.kind === "user" ? readRequest(step.text) : []));
  return [...new Map(requests.map((request) => [request.text, request])).values()];
}

function readRequest(text: string): RequestItem[] {
  const sentences = splitTypedSentences(dropPastedLines(text));
  const own = sentences.filter((sentence) => !isGreeting(sentence) && !isReference(sentence)).slice(0, sentencesMax);
  const request = own.join(" ");
  return findContentWords(request).length === 0 || isConfirmation(request) ? [] : [{ text: request }];
}

function isGreeting(sentence: string): boolean {
  return /^(?:hi|hello|hey|hallo|guten (?:morgen|tag|abend)|good (?:morning|afternoon|evening)|moin|你好|您好|こんにちは|おはよう(?:ございます)?)(?:[^\p{L}]{1,3}\w+(?: \w+)?)?[!.,。！]*$/iu.test(
    sentence,
  );
}

/** An answer that only agrees; what it agrees to is in the message before. */
export function isConfirmation(text: string): boolean {
  const agreed =
    /^(?:(?:ok(?:ay)?|yes|yep|yeah|sure|right|correct|continue|go(?: on| ahead)?|proceed|please|do (?:it|that|so)|sounds good|looks good|lgtm|perfect|great|nice|cool|thanks?(?: you)?|agreed|exactly|fine|good|keep going|next|all|ship it|ja|genau|weiter|passt|gerne|danke|mach das|so machen wir(?: es| das)|einverstanden|好的?|可以|是的?|对|继续|没问题|同意|谢谢|はい|お願いします|了解(?:です)?|いいですね|続けて(?:ください)?|ありがとう(?:ございます)?)[\s,.!。！，、]*)+$/i;
  return agreed.test(text.trim());
}

/** A path or address on a line of its own: an attachment, not a sentence. */
function isReference(sentence: string): boolean {
  return /^(['"`])(?:~|\.{0,2})\/[^'"`]+\1$|^(?:https?:\/\/|[~.]{0,2}\/)\S+$/.test(sentence);
}

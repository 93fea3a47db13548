import { extractTerms } from "./words.ts";

/** Words of a question that say what to do with the answer or point at the conversation itself. */
const asking = new Set(
  extractTerms(
    `please tell list mention mentioned show give given explain describe summary summarize summarise overview comprehensive
    detailed order sequence chronological brought bring raise raised discuss discussed discussing discussion talk talked
    talking conversation conversational chat session throughout across different various aspect item walk provide
    remember recall remind know include including regarding related overall kind type thing question answer ask asked
    exactly clearly briefly`,
  ),
);

const firstPerson = new Set(
  "i me my mine myself we us our ours ich mir mich mein meine wir unser je moi mon ma mes nous notre yo mi mis nosotros 我 我们".split(
    " ",
  ),
);

export function isAsking(term: string): boolean {
  return asking.has(term);
}

/** Whether whoever asks asks about themselves; what a person said is then the likeliest answer. */
export function asksAboutSelf(words: readonly string[]): boolean {
  return words.some((word) => firstPerson.has(word));
}

import { isFirstPerson } from "./first-person.ts";
import { extractTerms } from "./words.ts";

/** The kind of answer that a query asks for, apart from its subject. */
export interface QuestionKind {
  /** It is in the first person: the user's own messages are the likeliest answers. */
  aboutSelf: boolean;
  /** It asks what to do, not what was said or done: the wishes that the user stated earlier belong to the answer. */
  asksForHelp: boolean;
  /** The terms by which it asks for an account of something: a message that only mentions it is no answer. */
  accountTerms: string[];
}

/** Requests to the one who is asked. */
const helpWords = new Set(
  `suggest recommend help show should can could would empfehlen empfiehlst vorschlagen helfen hilf zeig soll sollte kannst
  suggerer recommander aider montre dois devrais peux sugerir recomendar ayudar muestra deberia puedes`.split(/\s+/),
);

/** A question with one of these is about the conversation as a whole. */
const wholeWords = new Set(
  `summary summarize summarise overview recap throughout timeline chronological evolve evolved evolution zusammenfassung
  uberblick reihenfolge resume resumen`.split(/\s+/),
);
/** An order of things, not one of goods. */
const sequence = /\b(?:the|what|which|quel) (?:order|ordre)\b|\border in which\b|\b(?:el|que) orden\b|\bso far\b/;

/** A question with one of these is about the past. */
const pastWords = new Set(
  `did have had has was were been said mentioned told asked between habe hatte hatten war waren gesagt erwahnt avais avait
  etait dit mentionne he habia era fue dije dijo mencione`.split(/\s+/),
);

const timeQuestions = new Set(["when", "wann", "quand", "cuando"]);
/** After "how": a question for a number. */
const measures = new Set(["many", "much", "long", "old", "often", "far"]);

/** Nouns and adverbs that ask how something was, why, or what it consisted of. Other forms of them are subjects: "the term". */
const accountWords = new Set(
  `atmosphere mood ambience rationale reason reasons reasoning motivation criteria criterion factors steps techniques methods
  qualifications expertise credentials certifications background feedback comments reaction reactions emotional
  emotionally feelings terms conditions themes topics contents skills agenda details outcome impression lessons
  insights stimmung begrundung grunde kriterien schritte methoden hintergrund reaktion ambiance raison raisons criteres
  etapes methodes contexte ambiente razon razones criterios pasos metodos antecedentes reaccion`.split(/\s+/),
);

/** Reads the kind of a question from its words, in lower case and without accents. */
export function readQuestionKind(words: readonly string[]): QuestionKind {
  const isPast = words.some((word) => pastWords.has(word)) || timeQuestions.has(words[0] ?? "");
  const spansConversation = words.some((word) => wholeWords.has(word)) || sequence.test(words.join(" "));
  const asksForHelp = !isPast && !spansConversation && words.some((word) => isFirstPerson(word) || helpWords.has(word));
  const isNumber = words.some((word, index) => word === "how" && measures.has(words[index + 1] ?? ""));
  const asked =
    spansConversation || asksForHelp || isNumber ? [] : words.filter((_, index) => asksForAccount(words, index));
  return {
    aboutSelf: words.some(isFirstPerson),
    asksForHelp,
    accountTerms: [...new Set(extractTerms(asked.join(" ")))],
  };
}

/** Except in "in terms of". */
function asksForAccount(words: readonly string[], index: number): boolean {
  const word = words[index] ?? "";
  return accountWords.has(word) && !(word === "terms" && words[index - 1] === "in");
}

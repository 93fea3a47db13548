import { annotateDates, endsInQuestion } from "../../text/index.ts";
import { ownToken, selfToken, type Token, tokenise } from "../compare/tokens.ts";
import type { WordSets } from "../compare/word-sets.ts";

/**
 * Statements about a life, in no fixed form: "I signed up for a pottery class yesterday". Such sentences
 * are scored by how specific they are; the best of a batch become memories.
 */

const charsMax = 400;
const wordsLeast = 4;
const wordsMax = 60;
/** The speaker must be named near the beginning: "Last Friday, my sister and I …". */
const speakerWithin = 6;

/** Code, paths, addresses and output of programs. */
const technical =
  /[`{}<>=|\\]|https?:|::|->|[\w-]\.(?:[cm]?[jt]sx?|py|rs|go|java|rb|php|c|h|cpp|md|json|ya?ml|toml|sh|sql|html|css|log|txt|csv)\b|(?:^|\s)[~.]?\/[\w.-]+\/|\b(?:error|exception|stack ?trace|npm|git|docker|function|variable|commit|repo|API|JSON|SQL|regex|compile[rd]?|debug|test(?:s|ing)? (?:fail|pass))\b/iu;

/** Feelings about the talk itself, politeness and requests; each says nothing about the speaker's life. */
const chatter: Readonly<Record<string, RegExp>> = {
  en: /^(?:(?:oh|wow|yeah|yes|no|well|so|and|but|also|haha|aww?|ok(?:ay)?|hey|hi|thanks?(?: you)?|honestly|actually|definitely|totally)[,!. ]+)*(?:i (?:(?:really|totally|completely|also|just|do|can|still|definitely|honestly) )*(?:think|guess|agree|hope|know|see|bet|wish|wonder|mean|appreciate|understand|suppose|believe|hear|get|relate|imagine|doubt|promise|remember|forgot|feel like|feel you)\b|i(?:['’]m| am) (?:(?:so|really|very|super|also|always|just) )*(?:glad|happy (?:for|to hear|that|you)|proud of you|sorry|sure|excited for you|here for|curious|jealous|impressed|with you|good|fine|okay|ok|great|doing (?:good|great|well|fine))\b|i (?:can(?:['’]t|not)|could(?:n['’]t)?) (?:wait|agree|believe|imagine|help but)\b|i(?:['’]d| would) (?:love|like) (?:to (?:hear|see|know|ask|learn)|that|it|some)\b|i (?:really )?(?:love|like) (?:that|this|it|your?|how|the (?:way|sound|idea))\b|i(?:['’]ll| will) (?:keep|let|be|check|definitely|try|look|take a look)\b|i (?:want|need|would like|['’]d like) (?:you|your|help|to (?:know|understand|ask|hear)|an? (?:answer|idea|summary|list|example))\b|i(?:['’]m| am) (?:trying|looking) (?:to|for)\b|i have (?:a|another|one|some|no) (?:question|idea|clue|problem)|we should\b|let me\b|my (?:pleasure|bad|apologies|point|question|guess)\b)/iu,
  de: /^(?:ich (?:denke|glaube|hoffe|weiß|verstehe|finde|wünsche|meine|freue mich|möchte wissen|brauche hilfe|frage mich)|das (?:freut|tut)|mir geht)\b/iu,
  fr: /^(?:je (?:pense|crois|sais|comprends|vois|suis (?:d'accord|désolée?|contente? pour|ravie?))|j'(?:espère|imagine|aimerais (?:savoir|que)))/iu,
  es: /^(?:(?:yo )?(?:creo|pienso|espero|entiendo|supongo|me alegro)\b|quiero que|necesito (?:ayuda|que))/iu,
  it: /^(?:(?:io )?(?:penso|credo|spero|capisco|suppongo)\b|voglio che|ho bisogno di aiuto)/iu,
  pt: /^(?:(?:eu )?(?:acho|penso|espero|entendo|suponho)\b|quero que|preciso de ajuda)/iu,
  ru: /^(?:я (?:думаю|надеюсь|знаю|понимаю|считаю|рада?|хочу,? чтобы))/iu,
  zh: /^我(?:觉得|认为|希望|知道|明白|想问|需要你|想让你)/u,
  ja: /(?:と思います|と思う|願っています|教えてください)[。！]*$/u,
  ko: /(?:생각해요|생각합니다|바랍니다|알려 ?주세요)[.!]*$/u,
};

const pastTense =
  /\b(?:\p{L}{3,}ed|went|saw|bought|got|took|made|met|had|was|were|did|found|began|won|lost|read|ran|ate|drove|flew|wrote|built|gave|left|kept|taught|caught|spent|came|became|grew|sang|sold|told|heard|felt|broke|chose|drew|rode|wore|held|led|paid|sent|slept|swam|woke|been|gone|done|seen)\b/iu;
const planning =
  /\b(?:(?:am|are|['’]m|['’]re) (?:\p{L}+ly )?(?:planning|going|thinking|hoping|about|working|learning|training|studying|volunteering|taking|moving|starting|visiting|getting)|plan to|want to|gonna|will be|(?:have|['’]ve) been)\b/iu;
const kin =
  /\b(?:mom|mum|mother|dad|father|parents?|wife|husband|partner|boyfriend|girlfriend|sons?|daughters?|kids?|child(?:ren)?|brothers?|sisters?|siblings?|grand(?:ma|pa|mother|father|parents?)|aunt|uncle|cousins?|nephew|niece|friends?|dogs?|cats?|pets?|boss|colleagues?|team(?:mates?)?|fiancée?|roommates?|neighbou?rs?)\b/iu;

const weights = { name: 0.8, number: 0.6, date: 0.9, kin: 0.7, past: 0.6, plan: 0.5, word: 0.1, addressee: -0.9 };
const countedMax = 2;
const wordsCounted = 10;

/** How specific a sentence about the speaker's life is; undefined when it is none. */
export function scoreExperience(sentence: string, sets: WordSets): number | undefined {
  const text = sentence.trim();
  if (text.length > charsMax || endsInQuestion(text) || /[:：…]\s*$/.test(text) || technical.test(text))
    return undefined;
  if (chatter[sets.lexicon.code]?.test(text)) return undefined;
  const tokens = tokenise(text, sets);
  if (tokens.length < (sets.segmenter ? wordsLeast - 1 : wordsLeast) || tokens.length > wordsMax) return undefined;
  const speaker = tokens.findIndex(isSpeaker);
  if (speaker === -1 || speaker > speakerWithin) return undefined;
  const count = (kind: Token["kind"]) => Math.min(countedMax, tokens.filter((token) => token.kind === kind).length);
  const isRelative = annotateDates(text, 0, "UTC") !== text;
  const wordChars = sets.segmenter ? 2 : 4;
  const words = tokens.filter(
    (token) => token.kind === "word" && !isSpeaker(token) && token.text.length >= wordChars,
  ).length;
  if (words + count("name") < 2) return undefined;
  return (
    weights.name * count("name") +
    weights.number * count("number") +
    weights.date * Math.min(countedMax, count("date") + Number(isRelative)) +
    weights.word * Math.min(wordsCounted, words) +
    (kin.test(text) ? weights.kin : 0) +
    (pastTense.test(text) ? weights.past : planning.test(text) ? weights.plan : 0) +
    (/\byou(?:r|rs)?\b/iu.test(text) ? weights.addressee : 0)
  );
}

function isSpeaker({ text }: Token): boolean {
  return text === selfToken || text === ownToken;
}

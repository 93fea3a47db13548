import { endsInQuestion } from "../../text/index.ts";
import { rateFirstHand } from "./first-person.ts";
import { splitWords } from "./words.ts";

/** Traits of a message that do not depend on the query. */
export interface MessageTraits {
  /** From 0 to 1: its speaker tells of themselves. Most questions are about such messages. */
  firstHand: number;
  /** It ends with a question. */
  isQuestion: boolean;
  /** It begins with thanks or agreement, and so repeats what was said before it. */
  isReaction: boolean;
  /** It says how to answer from now on, or what its speaker prefers. */
  isStandingRequest: boolean;
}

/** The beginning of a long message says what it is. */
const charactersRead = 1_000;
/** A longer text with such words is a document, not a request. */
const requestCharactersMax = 600;

const reaction =
  /^[^\p{L}\p{N}]{0,8}(?:thanks|thank you|thx|great|perfect|awesome|sounds|sure|yes|yeah|yep|ok|okay|got it|cool|nice|right|exactly|definitely|alright|glad|hmm|no worries|no problem|danke|super|genau|alles klar|merci|d'accord|parfait|gracias|perfecto|vale|claro|grazie|perfetto|obrigad[oa]|bedankt|spasibo|спасибо|отлично|谢谢|好的|ありがとう|了解)(?![\p{L}\p{N}])/iu;

/** An order that holds for later: at the beginning of a sentence, or with the occasion on which it applies. */
const directive =
  /(?:^|[.!?。！？]|\n)\s{0,4}(?:(?:please|bitte|por favor|per favore|s'il te pla[iî]t|请)[ ,，]{0,2})?(?:always|never|from now on|immer|niemals|ab jetzt|von nun an|ab sofort|toujours|ne jamais|d[eé]sormais|[aà] partir de maintenant|siempre|nunca|a partir de ahora|de ahora en adelante|sempre|mai|d'ora in poi|a partir de agora|altijd|nooit|voortaan|всегда|никогда|с этого момента|以后|今后|总是|永远不要|从现在起|今後)(?![\p{L}\p{N}])|\b(?:when|whenever|every time|immer wenn|chaque fois que|cada vez que|ogni volta che) (?:i|ich|je|yo)? ?(?:ask|frage|demande|pregunt[oe]|chiedo|pergunto)\b|每次我问|每当我问/iu;

const preference =
  /\bi(?:'d|’d| would)?(?: (?:really|generally|usually|also|always|kinda|much))? prefer\b|\bmy preference\b|\bi(?:'d|’d| would) rather\b|\bich (?:bevorzuge|ziehe es vor|mag lieber|m[oö]chte lieber|h[aä]tte lieber)\b|\bje pr[eé]f[eè]re|\bprefiero\b|\bpreferisco\b|\bprefiro\b|\bik geef de voorkeur|\bik heb liever\b|\bя предпочитаю|我更喜欢|我偏好|我比较喜欢|の方が好き/iu;

/** Each trait is read on first use: a search looks at few of them for most messages. */
class TextTraits implements MessageTraits {
  readonly #text: string;
  #firstHand: number | undefined;
  #isQuestion: boolean | undefined;
  #isReaction: boolean | undefined;
  #isStandingRequest: boolean | undefined;

  constructor(text: string) {
    this.#text = text;
  }

  get firstHand(): number {
    this.#firstHand ??= rateFirstHand(splitWords(this.#text.slice(0, charactersRead)));
    return this.#firstHand;
  }

  get isQuestion(): boolean {
    this.#isQuestion ??= endsInQuestion(this.#text.slice(-16));
    return this.#isQuestion;
  }

  get isReaction(): boolean {
    this.#isReaction ??= reaction.test(this.#text.slice(0, charactersRead));
    return this.#isReaction;
  }

  get isStandingRequest(): boolean {
    this.#isStandingRequest ??=
      this.#text.length <= requestCharactersMax && (directive.test(this.#text) || preference.test(this.#text));
    return this.#isStandingRequest;
  }
}

const known = new WeakMap<object, MessageTraits>();

/** Reads the traits of a message; `owner` is the object with which they are kept. */
export function readTraits(owner: object, text: string): MessageTraits {
  const found = known.get(owner) ?? new TextTraits(text);
  known.set(owner, found);
  return found;
}

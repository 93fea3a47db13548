/** The words of a text in which somebody speaks of themselves, in lower case and without accents. */
const firstPerson = new Set(
  `i me my mine myself we us our ours ich mir mich mein meine meinen meinem wir uns unser unsere je moi mon ma mes nous notre
  nos yo mi mis nosotros nuestro nuestra io miei noi nostro nostra eu meu minha meus nosso nossa ik mij mijn wij
  ons я мне меня мой моя мои мы нас наш 我 我们 私 僕 俺`.split(/\s+/),
);

/** Those that are the subject of a sentence. */
const subjects = new Set("i we ich wir je nous yo nosotros io noi eu nos ik wij я мы 我 私 僕 俺".split(" "));

/** The rest of a contraction such as `I'm` or `we've`, and adverbs that may stand before a verb. */
const beforeVerb = new Set("m ve ll d re am are do really also totally just".split(" "));

/** After the subject, these only comment on what another said. */
const comments = new Set(
  `think thought hope guess know mean agree see wonder bet sure glad sorry understand
  denke glaube hoffe weiss meine verstehe pense crois espere sais comprends creo pienso espero se entiendo
  penso credo spero acho espero denk hoop weet думаю надеюсь знаю`.split(/\s+/),
);

export function isFirstPerson(word: string): boolean {
  return firstPerson.has(word);
}

/**
 * How much of a text is told at first hand: 1 when somebody says what they do or are, 0.5 when they are only mentioned or
 * comment on what another said, 0 when the text is not about its speaker.
 */
export function rateFirstHand(words: readonly string[]): number {
  let isAboutSelf = false;
  for (const [index, word] of words.entries()) {
    if (!firstPerson.has(word)) continue;
    isAboutSelf = true;
    if (subjects.has(word) && !isComment(words, index + 1)) return 1;
  }
  return isAboutSelf ? 0.5 : 0;
}

function isComment(words: readonly string[], at: number): boolean {
  let verb = at;
  while (beforeVerb.has(words[verb] ?? "")) verb += 1;
  return comments.has(words[verb] ?? "");
}

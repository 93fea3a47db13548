/** Words too common to distinguish texts. Negations and numbers are not included. */
const lists = {
  en: "a about after again all also am an and any are as at be because been before being but by can could did do does doing for from get had has have having he her here hers him his how i if in into is it its just let ll may me might more most must my mine of off on once only or other our ours out over own re s same shall she should so some such t than that the their theirs them then there these they this those through to too up us ve very was we were what when where which while who whom whose why will with would you your yours m d don doesn didn isn aren wasn weren won",
  de: "aber als am an auch auf aus bei bin bis bist da das dass dem den der des die dir doch du durch ein eine einem einen einer eines er es euch für fur hat habe haben hast ich ihm ihn ihr im in ist ja kann man mein mich mir mit nach noch nur oder sein sich sie sind so über uber um und uns unter vom von vor war was wenn wer wie wir wird wo zu zum zur",
  fr: "au aux avec ce ces cette dans de des du elle en est et eu il ils je la le les leur lui ma mais me mes moi mon nous on ou où par pour qu que qui sa se ses son sont sur ta te tes toi ton tu un une vos votre vous",
  es: "al como con cual cuando de del desde donde el ella ellos en era es esta este esto fue ha han hay la las le les lo los más mas me mi mis muy nos o para pero por qué que quien se ser si sin sobre su sus también tambien te tu tus un una uno y ya yo",
} as const;

const words = new Set(Object.values(lists).flatMap((list) => list.split(" ")));

/** Whether a lower-case word is a stop word in one of the supported languages. */
export function isStopWord(word: string): boolean {
  return words.has(word);
}

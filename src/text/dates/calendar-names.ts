/** Names of the months from January on, by language; forms of one month are separated by a slash. */
export const monthNames: Readonly<Record<string, string>> = {
  en: "january february march april may june july august september october november december",
  enShort: "jan feb mar apr may jun jul aug sep oct nov dec",
  de: "januar februar märz april mai juni juli august september oktober november dezember",
  fr: "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
  es: "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
  it: "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
  pt: "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro",
  ru:
    "январь/января/январе февраль/февраля/феврале март/марта/марте апрель/апреля/апреле май/мая/мае июнь/июня/июне " +
    "июль/июля/июле август/августа/августе сентябрь/сентября/сентябре октябрь/октября/октябре ноябрь/ноября/ноябре " +
    "декабрь/декабря/декабре",
};

/** Every name with its number, from 0 on. */
export function numberNames(lists: Iterable<string>): Map<string, number> {
  const numbers = new Map<string, number>();
  for (const list of lists) {
    for (const [index, forms] of list.split(" ").entries()) {
      for (const form of forms.split("/")) numbers.set(form, index);
    }
  }
  return numbers;
}

/** A pattern for any of the names, the longest first, so that "march" is not read as "mar". */
export function alternate(names: Iterable<string>): string {
  return [...names].sort((a, b) => b.length - a.length).join("|");
}

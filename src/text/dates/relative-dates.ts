import type { SpanUnit } from "./local-span.ts";

/** A span of time named relative to a message: a day, or a whole week, weekend, month or year. */
export interface RelativeSpan {
  unit: SpanUnit;
  offset: number;
}

/** Words for a span, in all languages; a longer form stands before the one it contains. */
export const fixedSpans: readonly (readonly [string, RelativeSpan])[] = [
  // Days.
  ["the day before yesterday|vorgestern|avant-hier|anteayer|antes de ayer|l'altro ieri|anteontem|позавчера", day(-2)],
  ["前天|一昨日|おととい|그저께|그제", day(-2)],
  ["yesterday|last night|gestern|hier soir|hier|ayer|anoche|ieri|ieri sera|ontem|вчера", day(-1)],
  ["昨天|昨晚|昨日|きのう|어제", day(-1)],
  ["the day after tomorrow|übermorgen|après-demain|pasado mañana|dopodomani|depois de amanhã|послезавтра", day(2)],
  ["后天|明後日|あさって|모레", day(2)],
  ["today|tonight|this (?:morning|afternoon|evening)|heute|aujourd'hui|ce (?:matin|soir)|hoy|esta noche", day(0)],
  ["oggi|stasera|stamattina|hoje|esta noite|сегодня", day(0)],
  ["今天|今晚|今日|今朝|오늘", day(0)],
  ["tomorrow|demain|mañana|domani|amanhã|завтра", day(1)],
  ["(?<!guten )(?<!am |jeden |heute |gestern )morgen(?! früh um)", day(1)],
  ["明天|明日|あした|내일", day(1)],
  // Weekends and weeks.
  [
    "last weekend|letztes wochenende|am letzten wochenende|le week-end dernier|el fin de semana pasado",
    span("weekend", -1),
  ],
  ["lo scorso fine settimana|il weekend scorso|(?:no )?fim de semana passado|в прошлые выходные", span("weekend", -1)],
  ["上个周末|先週末|지난 주말", span("weekend", -1)],
  [
    "this weekend|dieses wochenende|am wochenende|ce week-end|este fin de semana|questo fine settimana",
    span("weekend", 0),
  ],
  ["este fim de semana|в эти выходные|这个周末|今週末|이번 주말", span("weekend", 0)],
  [
    "next weekend|nächstes wochenende|le week-end prochain|el próximo fin de semana|下个周末|来週末|다음 주말",
    span("weekend", 1),
  ],
  ["last week|letzte woche|vorige woche|la semaine dernière|la semana pasada|la settimana scorsa", span("week", -1)],
  ["(?:na )?semana passada|на прошлой неделе|上周|上个星期|先週|지난주", span("week", -1)],
  [
    "this week|diese woche|cette semaine|esta semana|questa settimana|на этой неделе|这周|本周|今週|이번 주",
    span("week", 0),
  ],
  ["next week|nächste woche|la semaine prochaine|la próxima semana|la prossima settimana", span("week", 1)],
  ["(?:na )?próxima semana|semana que vem|на следующей неделе|下周|下个星期|来週|다음 주", span("week", 1)],
  // Months and years.
  ["last month|letzten monat|le mois dernier|el mes pasado|il mese scorso|(?:no )?mês passado", span("month", -1)],
  ["в прошлом месяце|上个月|先月|지난달", span("month", -1)],
  [
    "this month|diesen monat|ce mois-ci|este mes|questo mese|este mês|в этом месяце|这个月|本月|今月|이번 달",
    span("month", 0),
  ],
  ["next month|nächsten monat|le mois prochain|el próximo mes|il mese prossimo|(?:no )?próximo mês", span("month", 1)],
  ["в следующем месяце|下个月|来月|다음 달", span("month", 1)],
  [
    "last year|letztes jahr|voriges jahr|l'année dernière|el año pasado|l'anno scorso|(?:no )?ano passado",
    span("year", -1),
  ],
  ["в прошлом году|去年|昨年|작년", span("year", -1)],
  ["this year|dieses jahr|cette année|este año|quest'anno|este ano|в этом году|今年|올해", span("year", 0)],
  ["next year|nächstes jahr|l'année prochaine|el próximo año|l'anno prossimo|(?:no )?próximo ano", span("year", 1)],
  ["в следующем году|明年|来年|내년", span("year", 1)],
];

function day(offset: number): RelativeSpan {
  return { unit: "day", offset };
}

function span(unit: RelativeSpan["unit"], offset: number): RelativeSpan {
  return { unit, offset };
}

/** "Three weeks ago", "in two days", with the groups `count` and `unit`. */
export const countedSpans: readonly { form: string; sign: 1 | -1 }[] = [
  {
    form: "(?<count>\\d{1,3}|a|an|one|two|three|four|five|six|seven|eight|nine|ten|a couple of|a few) (?<unit>day|week|month|year)s? ago",
    sign: -1,
  },
  {
    form: "in (?<count>\\d{1,3}|a|an|one|two|three|four|five|six|seven|eight|nine|ten) (?<unit>day|week|month|year)s?(?! time)",
    sign: 1,
  },
  {
    form: "vor (?<count>\\d{1,3}|einem|einer|zwei|drei|vier|fünf|sechs) (?<unit>tag|woche|monat|jahr)(?:en|e|n)?",
    sign: -1,
  },
  {
    form: "in (?<count>\\d{1,3}|einem|einer|zwei|drei|vier|fünf|sechs) (?<unit>tag|woche|monat|jahr)(?:en|e|n)?",
    sign: 1,
  },
  { form: "il y a (?<count>\\d{1,3}|un|une|deux|trois|quatre|cinq|six) (?<unit>jour|semaine|mois|an)s?", sign: -1 },
  { form: "hace (?<count>\\d{1,3}|un|una|dos|tres|cuatro|cinco|seis) (?<unit>día|semana|mes|año)(?:es|s)?", sign: -1 },
  { form: "(?<count>\\d{1,3}|un|una|due|tre|quattro|cinque|sei) (?<unit>giorn|settiman|mes|ann)[oaie] fa", sign: -1 },
  {
    form: "há (?<count>\\d{1,3}|um|uma|dois|duas|três|quatro|cinco|seis) (?<unit>dia|semana|m[eê]s|ano)(?:es|s)?",
    sign: -1,
  },
  { form: "(?<count>\\d{1,3}) (?<unit>дн|недел|месяц|год|лет)\\p{L}* назад", sign: -1 },
  { form: "(?<count>\\d{1,3}|[一两三四五六])个?(?<unit>天|周|星期|月|年)前", sign: -1 },
  { form: "(?<count>\\d{1,3})(?<unit>日|週間|ヶ月|か月|年)前", sign: -1 },
  { form: "(?<count>\\d{1,3})(?<unit>일|주|개월|년) 전", sign: -1 },
];

/** Numbers in words; two and three stand for vague counts, which are not resolved. */
export const countWords: Readonly<Record<string, number>> = Object.fromEntries(
  [
    "a an one einem einer un une una um uma 一",
    "two zwei deux dos due dois duas 两",
    "three drei trois tres tre três 三",
    "four vier quatre cuatro quattro quatro 四",
    "five fünf cinq cinco cinque 五",
    "six sechs seis sei 六",
    "seven",
    "eight",
    "nine",
    "ten",
  ].flatMap((words, index) => words.split(" ").map((word) => [word, index + 1])),
);

export const countUnits: Readonly<Record<string, RelativeSpan["unit"]>> = Object.fromEntries(
  (
    [
      ["day", "day tag jour día giorn dia дн 天 日 일"],
      ["week", "week woche semaine semana settiman недел 周 星期 週間 주"],
      ["month", "month monat mois mes mês месяц 月 ヶ月 か月 개월"],
      ["year", "year jahr an año ann ano год лет 年 년"],
    ] as const
  ).flatMap(([unit, words]) => words.split(" ").map((word) => [word, unit])),
);

/** Weekdays from Sunday on, and the words for the last and the next one, by language. */
export const weekdays: readonly {
  names: string;
  last: string;
  next: string;
  lastAfter?: string;
  nextAfter?: string;
}[] = [
  {
    names: "sunday monday tuesday wednesday thursday friday saturday",
    last: "last|this past",
    next: "next|this|this coming",
  },
  {
    names: "sonntag montag dienstag mittwoch donnerstag freitag samstag",
    last: "letzten|vergangenen",
    next: "nächsten|kommenden|diesen",
  },
  {
    names: "dimanche lundi mardi mercredi jeudi vendredi samedi",
    last: "",
    next: "ce",
    lastAfter: "dernier",
    nextAfter: "prochain",
  },
  {
    names: "domingo lunes martes miércoles jueves viernes sábado",
    last: "el pasado",
    next: "el próximo|este",
    lastAfter: "pasado",
    nextAfter: "que viene",
  },
  {
    names: "domenica lunedì martedì mercoledì giovedì venerdì sabato",
    last: "lo scorso|scorso",
    next: "il prossimo|questo",
    lastAfter: "scorso|scorsa",
    nextAfter: "prossimo|prossima",
  },
];

/** Weekdays alone, from Sunday on, with the group `name`; with `next` the one of today is a week later. */
export const bareWeekdays: readonly { form: string; names: string }[] = [
  ...[
    "sunday monday tuesday wednesday thursday friday saturday",
    "sonntag montag dienstag mittwoch donnerstag freitag samstag",
  ].map((names) => ({ form: `(?<next>next |nächsten )?(?<name>${names.replaceAll(" ", "|")})`, names })),
  { form: "(?<next>下)?(?:周|星期|礼拜)(?<name>[日天一二三四五六])", names: "日/天 一 二 三 四 五 六" },
];

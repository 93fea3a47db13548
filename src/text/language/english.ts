import { delayPattern, type Lexicon } from "./lexicon.ts";

const lead =
  "^(?:(?:well|so|ok|okay|oh|and|but|fyi|hey|correction|update|actually|today|now|recently|meanwhile)[,:]? )*";
const who = String.raw`(?<who>i|we|he|she|they|(?:my|our|his|her|their|the) (?:[\p{L}'-]+ ){0,2}[\p{L}'-]+|[\p{Lu}][\p{L}'-]+(?: [\p{Lu}][\p{L}'-]+)?)`;
const person = who.replace("|their|the)", "|their)");
const soon = "(?: now| currently| just| recently| finally| both)*";
const form = (rest: string) => delayPattern(`${lead}${rest}[.!]*$`, "iu");

export const english: Lexicon = {
  code: "en",
  marks:
    "the a an is are was of to in on at my i and for with it that we our he she they not has have do does be from by this his her works lives me us you your if before after never always no or but when who as all one been please what they them",
  expansions: [
    [/\bi['’]m\b/giu, "i am"],
    [/['’]s name is\b/giu, " is named"],
    [/\b(can)['’]?(?:not|t)\b/giu, "$1 not"],
    [/\bwon['’]t\b/giu, "will not"],
    [/n['’]t\b/giu, " not"],
    [/['’]re\b/giu, " are"],
    [/['’]ve\b/giu, " have"],
    [/['’]ll\b/giu, " will"],
    [/\b(he|she|it|that|there|what|here|where)['’]s\b/giu, "$1 is"],
  ],
  empty: "a an the am is are be been being of that do does did have has had will would there it so then just",
  fillers:
    "please|remember(?: that|:)?|don't forget(?: that|:)?|do not forget that|keep in mind(?: that|:)?|note(?: that|:)|by the way|btw|fyi|really|very|quite|absolutely|definitely|simply|currently|presently|at the moment|right now|still|well|as i said|as you know|you know|in fact|also known",
  self: "i me myself we us user",
  own: "my mine our ours",
  others: "he she they it his her their its him them",
  asking:
    "what which who whom whose when where why how many much long often old did does do was were is are can could should would will shall may might any some there about into if so than then them these those you your yours me tell give show please get got one kind type way thing things every each just also only very too more most know remember need want make made use using used again run runs running",
  negations: "not no never none neither nor without",
  numbers:
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty",
  synonyms:
    "favourite=favorite,fave name=named,called colour=color email=e-mail,mail,e-mails phone=telephone,mobile,cellphone flat=apartment km=kilometre,kilometres,kilometer,kilometers kg=kilo,kilos,kilogram,kilograms h=hour,hours,hr,hrs min=minute,minutes,mins €=euro,euros,eur $=dollar,dollars,usd £=pound,pounds %=percent live=reside,living work=employed,working ms=milliseconds s=second,seconds,sec theatre=theater centre=center grey=gray neighbour=neighbor monday=mondays tuesday=tuesdays wednesday=wednesdays thursday=thursdays friday=fridays saturday=saturdays sunday=sundays ok=okay mum=mom,mother dad=father bicycle=bike photo=photograph tv=television",
  copula:
    "is|are|was changed to|were changed to|has changed to|have changed to|changed to|has been changed to|was moved to|has been moved to|has moved to|moved to|was set to|is set to|has become|became|was renamed to|=|:",
  head: "last",
  complements: "of|for|in|on|at|to|from|with",
  attributes: {
    port: "port|port number",
    owner: "owner|product owner|code owner",
    email: "email|email address|mail address",
    phone: "phone number|mobile number|telephone number|cell number|number",
    address: "address|home address|postal address",
    name: "name|last name|first name|surname|maiden name",
    nickname: "nickname|callsign",
    username: "username|user name|login|handle|account name",
    password: "password|passphrase|passcode",
    code: "code|pin|pin code|door code|access code|vault code|id|customer number|account number|flight number|ticket number|iban|booking reference|serial number",
    version: "version",
    price: "price|cost|fee|fare|rate",
    rent: "rent",
    salary: "salary|pay|hourly rate|wage",
    budget: "budget",
    deadline: "deadline|due date|release date|launch date|expiry date|expiration date|start date|end date|moving date",
    birthday: "birthday|date of birth|birth date",
    age: "age",
    weight: "weight",
    height: "height",
    size: "size|shoe size|shirt size|clothing size|ring size",
    boss: "boss|manager|supervisor|line manager",
    lead: "lead|leader|team lead|head|maintainer|ceo|cto|director|chair|president|coach|captain|contact person|point of contact|contact|principal|mayor",
    doctor: "doctor|gp|family doctor|dentist|therapist|vet|hairdresser|accountant|lawyer|tutor",
    landlord: "landlord|landlady",
    spouse: "wife|husband|fiancé|fiancée|fiance|fiancee",
    currency: "currency",
    timezone: "time zone|timezone",
    url: "url|website|homepage|web site|domain|endpoint",
    host: "host|hostname|host name|ip|ip address",
    limit: "limit|rate limit|quota|maximum|minimum|capacity|threshold|retention|retention period|batch size|page size",
    timeout: "timeout|time-out",
    room: "room|room number|seat|gate|desk|meeting room|parking spot|office number|locker|platform",
    plate: "license plate|licence plate|number plate|registration number",
    location: "location|venue|headquarters|hq|hometown|home town|home|birthplace",
    branch: "branch|default branch|main branch",
    target:
      "target|deploy target|deployment target|destination|default editor|default browser|mascot|slogan|motto|theme|working title|code name|codename|blood type|zodiac sign|nationality|major|job title|title",
    colour: "colour",
    capital: "capital",
    interval: "interval|frequency|cadence",
    language: "native language|mother tongue|first language|default language",
    provider:
      "provider|internet provider|bank|insurer|health insurance|mobile carrier|supplier|host provider|hosting provider",
    time: "start time|meeting time|opening time|closing time|departure time|arrival time|bedtime|check-in time|standup",
  },
  favourites: [
    form(
      String.raw`(?<who>my|our|his|her|their|[\p{Lu}][\p{L}-]+['’]s|my \p{L}+['’]s)(?: (?:new|all-time|current))? favou?rite (?<about>[\p{L}\p{N} -]+?) (?:is|are|was|=|has changed to|changed to|has become|became) (?<value>.+?)`,
    ),
    form(
      String.raw`(?<value>[^.]+?) (?:is|are)(?: now)? (?<who>my|our|his|her|their|[\p{Lu}][\p{L}-]+['’]s|my \p{L}+['’]s)(?: new| all-time| current)? favou?rite (?<about>[\p{L}\p{N} -]+?)`,
    ),
    form(
      String.raw`of all (?<about>[\p{L}\p{N} -]+?)s?,? (?<who>i) (?:like|love|prefer) (?<value>.+?) (?:the )?(?:most|best)`,
    ),
  ],
  facts: [
    [
      "residence",
      form(
        `${person}${soon} (?:live|lives|am living|is living|are living|reside|resides|am based|is based|are based) (?:now )?(?:in|at|on) (?<value>.+?)`,
      ),
    ],
    [
      "residence",
      form(`${person}(?: have| has)?${soon} (?:moved|relocated)(?: house| home)?(?: from .+?)? to (?<value>.+?)`),
    ],
    [
      "residence",
      form(
        `(?<who>my|our) (?:new )?(?:home|place of residence|residence|house|flat|apartment) is(?: now)? in (?<value>.+?)`,
      ),
    ],
    [
      "employer",
      form(
        `${person}${soon} (?:work|works|am working|is working|am employed|is employed)(?: now)? (?:at|for|by|with) (?<value>.+?)`,
      ),
    ],
    [
      "employer",
      form(
        `${person}(?: have| has)?${soon} (?:joined|started at|started working at|started working for|switched jobs to|changed jobs to|took a job at|got a job at|got a new job at|been hired by) (?<value>.+?)`,
      ),
    ],
    ["employer", form(`(?<who>my|our) (?:new |current )?(?:employer|company) is(?: now)? (?<value>.+?)`)],
    [
      "occupation",
      form(
        `${person}${soon} (?:work|works|am working|is working|am employed|is employed)(?: now)? as (?:an? |the )?(?<value>.+?)`,
      ),
    ],
    [
      "occupation",
      form(
        `(?<who>my|his|her) (?:new |current )?(?:job|profession|occupation) is(?: now)? (?:an? |being an? )?(?<value>.+?)`,
      ),
    ],
    ["name", form(`(?<who>i) (?:am|was) (?:called|named) (?<value>.+?)`)],
    ["name", form("(?:you can |please )?call me (?<value>.+?)")],
    [
      "age",
      form(
        String.raw`${person} (?:am|is|are|turned|just turned)(?: now)? (?<value>\d{1,3}|[a-z]+(?:-[a-z]+)?)(?: years old| years of age)`,
      ),
    ],
    ["age", form(String.raw`${person}${soon} turned (?<value>\d{1,3})`)],
    ["birthday", form(`${person} (?:was|were) born (?:on|in) (?<value>[^,]*\\d[^,]*?)`)],
    [
      "port",
      form(
        String.raw`(?<who>.+?)(?: now)? (?:listens|runs|is listening|is running|is served|is reachable|is exposed)(?: now)? (?:on|at|under) port (?<value>\S+)`,
      ),
    ],
    ["port", form(String.raw`(?<who>.+?)(?: now)? uses(?: now)? port (?<value>\S+)`)],
    ["owner", form("(?<who>.+?) (?:is|are)(?: now)? owned by (?<value>.+?)")],
    ["owner", form(`(?<who>.+?) (?:belongs)(?: now)? to (?<value>.+?)`)],
    ["lead", form("(?<who>.+?) (?:is|are)(?: now)? (?:led|managed|run|headed|maintained|coached) by (?<value>.+?)")],
    ["price", form(String.raw`(?<who>.+?)(?: now)? (?:costs?|is priced at)(?: now)? (?<value>[^\d]{0,3}\d.*?)`)],
    ["deadline", form("(?<who>.+?) (?:is|are)(?: now)? due (?:on |by |at )?(?<value>.+?)")],
    [
      "limit",
      form(
        String.raw`(?<who>.+?) (?:is|are)(?: now)? (?:rate[- ]limited|limited|capped) (?:to|at) (?<value>[^\d]{0,3}\d.*?)`,
      ),
    ],
    [
      "location",
      form(`(?<who>the .+?|our .+?) (?:is|are)(?: now)? (?:located|hosted|headquartered) (?:in|at|on) (?<value>.+?)`),
    ],
    ["height", form(String.raw`${person} (?:am|is) (?<value>\d[\d.,]* ?(?:m|cm|metres|meters|feet|ft)) tall`)],
    ["weight", form(String.raw`${person} (?:weigh|weighs)(?: now)? (?<value>\d.*?)`)],
    ["size", form(String.raw`${person} (?:wear|wears)(?: shoe)? size (?<value>\S+)(?: shoes)?`)],
    ["car", form(String.raw`${person}${soon} drives? (?:an? )(?<value>[\p{Lu}].*?)`)],
  ],
  also: "also|too|as well|another|second|additional|additionally|in addition|besides|both|part-time|on the side|sometimes|occasionally|among others",
  changed:
    "now|nowadays|from now on|as of|starting|instead|correction|actually|update|new|no longer|not anymore|not any more|any ?more|these days|switched|switched to|changed|changed to|has changed|was changed|became|has become|moved|moved to|was moved|has moved|has been moved|postponed|rescheduled|pushed back|brought forward|renamed|replaced|migrated|rewritten|went up|went down|rose|fell|dropped|increased|decreased|raised|lowered|since yesterday|since today|after all|meanwhile|by now",
  ended:
    "no longer|not .{1,40} any ?more|any ?more|stopped|quit|gave up|given up|used to|ended|cancelled|canceled|dropped|got rid of|broke up|left|resigned from|is over|is gone|was abolished|has been removed|was removed|was shut down|retired|discontinued|never again",
  replaced: [
    /(?:instead of|rather than|in place of|replacing|replaces|replaced) (?:the |a |an |my |our )?(?<old>[^,.;]{1,120}?)(?= with | by | as | for |[,.;]|$)/iu,
    /(?:switched|moved|changed|migrated|went|converted|ported|upgraded) from (?<old>[^,.;]{1,120}?) to /iu,
    /, not (?<old>[^,.;]{1,120}?) (?:any ?more|as before)/iu,
    /no longer (?<old>[^,.;]{1,120}?)[.,;!]*$/iu,
  ],
  additive:
    "have has had own owns got like likes love loves enjoy enjoys hate hates dislike speak speaks know knows learn learns learning play plays need needs want wants allergic collect collects visited read reading bought can adopted met supports support includes include contains contain accepts",
  remarks:
    "and|or|but|because|since|with|for|when|while|which|who|where|until|during|on|at|near|if|so|by|from|after|before|as|although|though|only|to",
  since: "since|as of|from|starting|for|after|until",
  dates:
    "monday|tuesday|wednesday|thursday|friday|saturday|sunday|january|february|march|april|may|june|july|august|september|october|november|december|jan|feb|mar|apr|jun|jul|aug|sep|sept|oct|nov|dec|today|tomorrow|tonight|noon|midnight|morning|evening|afternoon|week|month|year|spring|summer|autumn|winter|quarter|am|pm|o'clock",
};

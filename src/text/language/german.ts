import { delayPattern, type Lexicon } from "./lexicon.ts";

const lead =
  "^(?:(?:also|und|aber|übrigens|korrektur|update|tatsächlich|inzwischen|mittlerweile|jetzt|nun|ab sofort|seit kurzem|seit gestern|seit heute)[,:]? )*";
const who = String.raw`(?<who>ich|wir|er|sie|(?:mein|meine|unser|unsere|sein|seine|ihr|ihre|der|die|das) (?:[\p{L}'-]+ ){0,2}[\p{L}'-]+|[\p{Lu}][\p{L}'-]+(?: [\p{Lu}][\p{L}'-]+)?)`;
const soon = "(?: jetzt| nun| inzwischen| mittlerweile| derzeit| aktuell| momentan| seit kurzem| gerade| beide)*";
const form = (rest: string) => delayPattern(`${lead}${rest}[.!]*$`, "iu");

export const german: Lexicon = {
  code: "de",
  marks:
    "der die das ein eine einen einem ist sind ich du er sie wir ihr mein meine und nicht mit von für auf im in den dem zu auch hat haben wird bei um am jetzt des unser unsere",
  expansions: [
    [/\b(?:am)\b/giu, "an dem"],
    [/\b(?:im)\b/giu, "in dem"],
    [/\b(?:zum)\b/giu, "zu dem"],
    [/\b(?:zur)\b/giu, "zu der"],
    [/\b(?:beim)\b/giu, "bei dem"],
    [/\b(?:vom)\b/giu, "von dem"],
    [/\bhab\b/giu, "habe"],
  ],
  empty:
    "der die das den dem des ein eine einen einem einer eines bin bist ist sind seid wird werden dass es so dann von habe hat haben halt eben doch mal ja",
  fillers:
    "bitte|merk(?:e)? dir(?:, dass|:)?|denk daran(?:, dass|:)?|vergiss nicht(?:, dass|:)?|übrigens|wirklich|sehr|ziemlich|absolut|einfach|derzeit|aktuell|momentan|zurzeit|zur zeit|im moment|gerade|wie gesagt|immer noch|noch immer|richtig|total",
  self: "ich mich mir wir uns",
  own: "mein meine meinen meinem meiner meines unser unsere unseren unserem unserer unseres",
  others: "er sie es ihr ihre ihren ihrem sein seine seinen seinem",
  asking:
    "was welche welcher welches welchen welchem wer wen wem wessen wann wo wohin woher warum weshalb wieso wie viele viel lange oft alt womit wofür wogegen wodurch worüber worauf woran kann kannst können soll sollen sollte muss müssen wird werden würde wurde war waren hat habe haben hatte bin bist sein du dein deine dir dich man mir mich gib nenne sag zeig bitte lautet als aus bis nach vor zwischen durch oder aber wenn dass diese dieser dieses diesen einer eines noch nur schon sehr alle ins zum zur heißt gibt",
  negations: "nicht kein keine keinen keinem keiner nie niemals ohne weder",
  numbers:
    "null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn achtzehn neunzehn zwanzig",
  synonyms:
    "email=e-mail,mail,emailadresse,e-mail-adresse,mailadresse,email-adresse telefonnummer=handynummer,telefon,mobilnummer km=kilometer,kilometern kg=kilo,kilogramm h=stunde,stunden min=minute,minuten €=euro,eur %=prozent handy=smartphone wohnen=wohne wohne=lebe wohnt=lebt fahrrad=rad uhr=h mama=mutter,mutti papa=vater fernseher=tv montag=montags dienstag=dienstags mittwoch=mittwochs donnerstag=donnerstags freitag=freitags samstag=samstags,sonnabend sonntag=sonntags",
  copula: "ist|sind|lautet|heißt|heissen|beträgt|liegt bei|steht auf|wurde auf|wurde zu|ist geworden|wird|=|:",
  head: "last",
  complements: "von|vom|des|der|für|im|in|auf|an|am|bei|beim|zu|zum|zur|aus",
  attributes: {
    port: "port|portnummer",
    owner: "besitzer|besitzerin|eigentümer|eigentümerin|inhaber|inhaberin",
    email: "email",
    phone: "telefonnummer|rufnummer|nummer",
    address: "adresse|anschrift|wohnadresse|postadresse",
    name: "name|nachname|vorname|familienname",
    nickname: "spitzname",
    username: "benutzername|nutzername|loginname|kontoname",
    password: "passwort|kennwort|wlan-passwort|wlan-schlüssel",
    code: "code|pin|kundennummer|kontonummer|flugnummer|iban|zugangscode|türcode|buchungsnummer|seriennummer|personalnummer",
    version: "version",
    price: "preis|kosten|gebühr|beitrag|eintritt",
    rent: "miete|kaltmiete|warmmiete",
    salary: "gehalt|lohn|stundenlohn|stundensatz",
    budget: "budget",
    deadline:
      "frist|abgabefrist|deadline|abgabetermin|liefertermin|stichtag|abgabedatum|einsendeschluss|umzugstermin|releasetermin",
    birthday: "geburtstag|geburtsdatum",
    age: "alter",
    weight: "gewicht",
    height: "größe|körpergröße",
    size: "schuhgröße|kleidergröße|konfektionsgröße|ringgröße",
    boss: "chef|chefin|vorgesetzter|vorgesetzte|managerin|manager",
    lead: "leiter|leiterin|teamleiter|teamleiterin|projektleiter|projektleiterin|ansprechpartner|ansprechpartnerin|geschäftsführer|geschäftsführerin|trainer|trainerin|vorsitzender|vorsitzende|direktor|direktorin|bürgermeister|bürgermeisterin|klassenlehrerin|klassenlehrer",
    doctor:
      "arzt|ärztin|hausarzt|hausärztin|zahnarzt|zahnärztin|therapeut|therapeutin|tierarzt|tierärztin|friseur|friseurin|steuerberater|steuerberaterin|anwalt|anwältin",
    landlord: "vermieter|vermieterin",
    spouse: "frau|mann|ehemann|ehefrau|verlobte|verlobter",
    currency: "währung",
    timezone: "zeitzone",
    url: "url|webseite|website|homepage|domain|internetadresse",
    host: "host|hostname|ip|ip-adresse",
    limit: "limit|grenzwert|obergrenze|höchstgrenze|kapazität|kontingent|schwellenwert|ratenlimit|aufbewahrungsfrist",
    timeout: "timeout|zeitlimit",
    room: "raum|raumnummer|zimmer|zimmernummer|sitzplatz|gate|besprechungsraum|büro|parkplatz|gleis|stellplatz",
    plate: "kennzeichen|autokennzeichen",
    location: "standort|veranstaltungsort|treffpunkt|wohnort|sitz|hauptsitz|heimatstadt|firmensitz",
    branch: "branch|hauptbranch|standardbranch",
    target:
      "ziel|zielserver|deploy-ziel|standardbrowser|standardeditor|motto|maskottchen|blutgruppe|sternzeichen|staatsangehörigkeit|arbeitstitel|codename|berufsbezeichnung|studienfach",
    colour: "farbe",
    capital: "hauptstadt",
    interval: "intervall|takt|rhythmus",
    language: "muttersprache",
    provider:
      "anbieter|internetanbieter|stromanbieter|mobilfunkanbieter|bank|hausbank|krankenkasse|krankenversicherung|lieferant|hoster|versicherung",
    time: "beginn|startzeit|abfahrtszeit|öffnungszeit|standup|ankunftszeit",
  },
  favourites: [
    form(
      String.raw`(?<who>mein|meine|unser|unsere|sein|seine|ihr|ihre)(?: neuer| neue| neues)? lieblings-?(?<about>[\p{L}-]+) (?:ist|sind|heißt|war)(?: jetzt| nun| inzwischen| mittlerweile)? (?<value>.+?)`,
    ),
    form(
      String.raw`(?<value>[^.]+?) (?:ist|sind)(?: jetzt| nun| inzwischen| mittlerweile)? (?<who>mein|meine|unser|unsere|sein|seine|ihr|ihre)(?: neuer| neue| neues)? lieblings-?(?<about>[\p{L}-]+)`,
    ),
    form(
      String.raw`(?:jetzt|nun|inzwischen|mittlerweile) ist (?<value>.+?) (?<who>mein|meine|unser|unsere) lieblings-?(?<about>[\p{L}-]+)`,
    ),
  ],
  facts: [
    ["residence", form(`${who} (?:wohne|wohnt|wohnen|lebe|lebt|leben)${soon} (?:in|auf|bei) (?<value>.+?)`)],
    ["residence", form(`(?:wohne|wohnt|wohnen|lebe|lebt|leben) ${who}${soon} (?:in|auf|bei) (?<value>.+?)`)],
    [
      "residence",
      form(`${who} (?:bin|ist|sind)${soon} (?:von .+? )?nach (?<value>.+?) (?:gezogen|umgezogen|übergesiedelt)`),
    ],
    ["residence", form(`${who} (?:bin|ist|sind)${soon} in (?:die |den |das )?(?<value>.+?) gezogen`)],
    ["residence", form(`${who} (?:zog|zogen)${soon} nach (?<value>.+?)(?: um)?`)],
    ["employer", form(`${who} (?:arbeite|arbeitet|arbeiten)${soon} (?:bei|für) (?:der |dem )?(?<value>.+?)`)],
    ["employer", form(`(?:arbeite|arbeitet|arbeiten) ${who}${soon} (?:bei|für) (?:der |dem )?(?<value>.+?)`)],
    ["employer", form(`${who} (?:bin|ist)${soon} (?:bei) (?<value>.+?) (?:angestellt|beschäftigt)`)],
    ["employer", form(`${who} (?:habe|hat|bin|ist)${soon} (?:zu|bei) (?<value>.+?) (?:gewechselt|angefangen)`)],
    [
      "employer",
      form(`(?<who>mein|unser) (?:neuer |aktueller |jetziger )?arbeitgeber (?:ist|heißt)${soon} (?<value>.+?)`),
    ],
    ["occupation", form(`${who} (?:arbeite|arbeitet)${soon} als (?<value>.+?)`)],
    ["occupation", form(`(?<who>mein|sein|ihr) (?:neuer |jetziger )?beruf ist${soon} (?<value>.+?)`)],
    ["name", form(`(?<who>ich) heiße${soon} (?<value>.+?)`)],
    ["age", form(String.raw`${who} (?:bin|ist|sind|werde)${soon} (?<value>\d{1,3}|[a-zäöüß]+)(?: jahre alt| jahre)`)],
    ["birthday", form(`${who} (?:bin|wurde|ist) am (?<value>.*?\\d.*?) geboren(?: worden)?`)],
    [
      "port",
      form(
        String.raw`(?<who>.+?) (?:läuft|lauscht|hört|horcht|ist)${soon} (?:auf|unter|über) (?:dem )?port (?<value>\S+)(?: erreichbar)?`,
      ),
    ],
    ["port", form(String.raw`(?<who>.+?) (?:benutzt|nutzt|verwendet)${soon} (?:den )?port (?<value>\S+)`)],
    ["owner", form(`(?<who>.+?) gehört${soon} (?<value>.+?)`)],
    [
      "lead",
      form(`(?<who>.+?) wird${soon} von (?<value>.+?) (?:geleitet|betreut|geführt|gewartet|trainiert|verantwortet)`),
    ],
    ["price", form(String.raw`(?<who>.+?) kostet${soon} (?<value>.*?\d.*?)`)],
    [
      "limit",
      form(String.raw`(?<who>.+?) (?:ist|sind)${soon} auf (?<value>.*?\d.*?) (?:begrenzt|beschränkt|limitiert)`),
    ],
    [
      "location",
      form(`(?<who>(?:der|die|das|unser|unsere) .+?) (?:befindet sich|liegt|sitzt)${soon} in (?<value>.+?)`),
    ],
    ["height", form(String.raw`${who} (?:bin|ist) (?<value>\d[\d.,]* ?(?:m|cm|meter)(?: \d+)?) groß`)],
    ["weight", form(String.raw`${who} (?:wiege|wiegt)${soon} (?<value>\d.*?)`)],
    ["car", form(String.raw`${who} (?:fahre|fährt|fahren)${soon} (?:einen |ein |eine )(?<value>[\p{Lu}].*?)`)],
  ],
  also: "auch|ebenfalls|zusätzlich|außerdem|zweite|zweiter|zweites|zweiten|noch ein|noch eine|noch einen|weitere|weiterer|weiteren|nebenbei|manchmal|gelegentlich|beide|sowohl|unter anderem",
  changed:
    "jetzt|nun|inzwischen|mittlerweile|neuerdings|seit kurzem|seit gestern|seit heute|ab sofort|ab jetzt|von nun an|künftig|statt|stattdessen|anstatt|anstelle|korrektur|update|neu|neue|neuer|neues|neuen|nicht mehr|kein .{0,40} mehr|umgezogen|gezogen|verschoben|verlegt|geändert|gewechselt|wechselte|umgestellt|umgestiegen|umbenannt|ersetzt|geworden|erhöht|gesenkt|gestiegen|gesunken|doch|heute nicht mehr|vorverlegt|migriert",
  ended:
    "nicht mehr|keine? .{0,40}mehr|keinen .{0,40}mehr|keinem .{0,40}mehr|keiner .{0,40}mehr|aufgehört|aufgegeben|gekündigt|beendet|abgeschafft|abgesagt|nie wieder|vorbei|ausgezogen|eingestellt|abgeschaltet|früher",
  replaced: [
    /(?:anstelle von|anstelle|anstatt|statt) (?:des |der |dem |den |die |das |einem |einer |einen |ein |eine )?(?<old>[^,.;]{1,120}?)(?= (?:nutze|benutze|verwende|trinke|nehme|fahre|nutzen|verwenden|jetzt|nun)|[,.;]|$)/iu,
    /von (?<old>[^,.;]{1,120}?) (?:auf|zu|nach) [^,.;]{1,120}? (?:gewechselt|umgestiegen|umgestellt|migriert|gezogen|umgezogen)/iu,
    /nicht mehr (?<old>[^,.;]{1,120}?)(?:, sondern|[.;!]*$)/iu,
  ],
  additive:
    "habe hat haben besitze besitzt mag mögen liebe liebt hasse hasst spreche spricht sprechen kenne kennt lerne lernt spiele spielt brauche braucht will möchte allergisch sammle sammelt besucht lese liest gekauft kann adoptiert unterstützt enthält",
  remarks:
    "und|oder|aber|weil|da|seit|mit|für|wenn|während|welche|welcher|der|die|das|bis|bei|nahe|als|obwohl|nur|zu|ab|am|an|im|auf|von",
  since: "seit|ab|von|nach|bis",
  dates:
    "montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag|januar|februar|märz|april|mai|juni|juli|august|september|oktober|november|dezember|heute|morgen|übermorgen|mittag|mitternacht|abend|abends|morgens|mittags|woche|monat|jahr|frühling|sommer|herbst|winter|uhr|quartal|h",
};

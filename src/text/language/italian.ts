import { delayPattern, type Lexicon } from "./lexicon.ts";

const lead =
  "^(?:(?:allora|e|ma|comunque|correzione|in realtà|adesso|ora|da poco|da ieri|da oggi|d'ora in poi|ormai)[,:]? )*";
const who = String.raw`(?:(?<who>io|noi|lui|lei|(?:il mio|la mia|il nostro|la nostra|mio|mia|suo|sua|il|la|lo|l['’]) ?(?:[\p{L}'’-]+ ){0,2}[\p{L}'’-]+|[\p{Lu}][\p{L}-]+(?: [\p{Lu}][\p{L}-]+)?) )?`;
const soon = "(?: adesso| ora| attualmente| ormai| oggi| recentemente| entrambi)*";
const form = (rest: string) => delayPattern(`${lead}${rest}[.!]*$`, "iu");

export const italian: Lexicon = {
  code: "it",
  marks:
    "il lo la gli le un una è sono io mio mia miei nostro nostra e di del della dei al alla che non per con su nel nella ho ha si mi abito vivo lavoro uso più in ora adesso a siamo da alle ai allo dal ci ho",
  expansions: [
    [/\b(l|d|un|dell|all|nell|sull|dall|c|m|s|t)['’](?=\p{L})/giu, "$1o "],
    [/\b(?:del|dello|della|dei|degli|delle|dello)\b/giu, "di il"],
    [/\b(?:al|allo|alla|ai|agli|alle|allo)\b/giu, "a il"],
    [/\b(?:nel|nello|nella|nei|negli|nelle|nello)\b/giu, "in il"],
    [/\b(?:sul|sullo|sulla|sui|sugli|sulle)\b/giu, "su il"],
  ],
  empty: "il lo la i gli le un uno una lo do di è sono siamo ho ha abbiamo hanno che si ci co io noi",
  fillers:
    "per favore|ricorda(?:ti)?(?: che)?|non dimenticare(?: che)?|tieni presente che|a proposito|davvero|molto|abbastanza|attualmente|al momento|ancora|come ho detto|semplicemente|proprio",
  self: "mi me ci",
  own: "mio mia miei mie nostro nostra nostri nostre",
  others: "lui lei loro suo sua suoi sue",
  asking:
    "che cosa quale quali chi quando dove perché come quanto quanti quanta quante era può puoi devo deve devono tu tuo tua tuoi ti dimmi dammi elenca questo questa questi queste quello quella o ma se molto tutto tutti essere avere fare faccio facciamo fa senza tra fra su sul sulla nel nella dal dalla serve servono dov com qual suo sua",
  negations: "non mai nessun nessuno nessuna senza né neanche",
  numbers:
    "zero uno due tre quattro cinque sei sette otto nove dieci undici dodici tredici quattordici quindici sedici diciassette diciotto diciannove venti",
  synonyms:
    "email=e-mail,mail,posta preferito=preferita,favorito,favorita,preferiti,preferite km=chilometro,chilometri kg=chilo,chili,chilogrammi h=ora,ore min=minuto,minuti €=euro %=percento macchina=auto,automobile telefono=cellulare,telefonino vivo=abito vive=abita bici=bicicletta mamma=madre papà=padre,babbo tv=televisione",
  copula: "è|sono|è diventato|è diventata|è passato a|è passata a|si chiama|ammonta a|=|:",
  head: "first",
  complements: "di|del|dello|della|dei|degli|delle|dell'|dell’|per|in|a|su|nel|nella|da",
  attributes: {
    port: "porta|numero di porta|porto",
    owner: "proprietario|proprietaria|titolare",
    email: "email|indirizzo email|indirizzo e-mail|indirizzo mail",
    phone: "numero di telefono|numero di cellulare|numero|telefono",
    address: "indirizzo|indirizzo di casa",
    name: "nome|cognome",
    nickname: "soprannome",
    username: "nome utente|utente|username",
    password: "password|parola d'ordine|chiave del wifi",
    code: "codice|pin|numero cliente|numero di conto|numero di volo|iban|codice di accesso|codice fiscale|numero di serie|codice della porta",
    version: "versione",
    price: "prezzo|costo|tariffa|quota",
    rent: "affitto",
    salary: "stipendio|salario|paga",
    budget: "budget",
    deadline: "scadenza|data di consegna|termine|data di lancio|data di uscita",
    birthday: "compleanno|data di nascita",
    age: "età",
    weight: "peso",
    height: "altezza",
    size: "taglia|numero di scarpe|misura",
    boss: "capo|superiore|responsabile diretto|manager",
    lead: "responsabile|direttore|direttrice|allenatore|allenatrice|capoprogetto|referente|amministratore delegato|presidente|sindaco|sindaca|caposquadra|contatto",
    doctor:
      "medico|dottore|dottoressa|dentista|terapeuta|veterinario|veterinaria|parrucchiere|parrucchiera|commercialista|avvocato|avvocata|psicologo|psicologa",
    landlord: "padrone di casa|padrona di casa|locatore",
    spouse: "moglie|marito|fidanzato|fidanzata",
    currency: "valuta|moneta",
    timezone: "fuso orario",
    url: "url|sito|sito web|dominio",
    host: "host|ip|indirizzo ip|server",
    limit: "limite|quota massima|tetto|capacità|soglia|limite di richieste",
    timeout: "timeout|tempo di attesa",
    room: "sala|sala riunioni|stanza|camera|posto|ufficio|binario|posto auto|aula|gate",
    plate: "targa",
    location: "luogo|sede|posizione|città natale|luogo di nascita|ubicazione",
    branch: "branch|ramo|ramo principale",
    target:
      "destinazione|obiettivo del deploy|motto|mascotte|slogan|tema|gruppo sanguigno|segno zodiacale|nazionalità|browser predefinito|editor predefinito|titolo|nome in codice",
    colour: "colore",
    capital: "capitale",
    interval: "intervallo|frequenza",
    language: "lingua madre|madrelingua",
    provider: "fornitore|operatore|banca|assicurazione|gestore|provider|compagnia telefonica",
    time: "orario di inizio|orario di partenza|orario di apertura|orario di arrivo|ora di inizio",
  },
  favourites: [
    form(
      String.raw`(?:il |la |i |le )?(?<who>mio|mia|miei|mie|nostro|nostra|suo|sua) (?:nuovo |nuova )?(?<about>[\p{L} -]+?) (?:preferit[oaie]|favorit[oaie])(?: adesso| ora)? (?:è|sono|è diventat[oa])(?: adesso| ora| ormai)? (?:il |la |lo |i |gli |le |l['’]|un |una )?(?<value>.+?)`,
    ),
    form(
      String.raw`(?:il |la |lo |i |gli |le |l['’])?(?<value>[^.]+?) (?:è|sono)(?: adesso| ora)? (?:il |la |i |le )?(?<who>mio|mia|miei|mie|nostro|nostra|suo|sua) (?:nuovo |nuova )?(?<about>[\p{L} -]+?) (?:preferit[oaie]|favorit[oaie])`,
    ),
  ],
  facts: [
    [
      "residence",
      form(
        `${who}(?:adesso |ora )?(?:abito|abita|abitiamo|vivo|vive|viviamo|risiedo|risiede)${soon} (?:a|ad|in|nel|nella) (?<value>.+?)`,
      ),
    ],
    [
      "residence",
      form(
        `${who}(?:mi sono|si è|ci siamo)${soon} (?:trasferit[oaie])(?: da .+?)? (?:a|ad|in|nel|nella) (?<value>.+?)`,
      ),
    ],
    ["residence", form(`${who}(?:ho|ha|abbiamo) traslocato (?:a|ad|in) (?<value>.+?)`)],
    [
      "employer",
      form(
        `${who}(?:adesso |ora )?(?:lavoro|lavora|lavoriamo)${soon} (?:per|presso|da|in|alla|all['’]|al) (?<value>.+?)`,
      ),
    ],
    [
      "employer",
      form(
        `${who}(?:sono|è)${soon} (?:stato assunto|stata assunta|passat[oa]|entrat[oa]|impiegat[oa]) (?:da|in|alla|presso|a) (?<value>.+?)`,
      ),
    ],
    [
      "employer",
      form(`${who}(?:ho|ha)${soon} (?:iniziato|cominciato) (?:a lavorare )?(?:da|in|alla|presso|per) (?<value>.+?)`),
    ],
    [
      "employer",
      form(`(?:il )?(?<who>mio|nostro) (?:nuovo |attuale )?datore di lavoro (?:attuale )?è${soon} (?<value>.+?)`),
    ],
    ["occupation", form(`${who}(?:lavoro|lavora)${soon} come (?<value>.+?)`)],
    ["occupation", form(`${who}(?:faccio|fa)${soon} (?:il |la |lo |l['’])(?<value>\\p{L}+)`)],
    ["name", form(`(?:io )?mi chiamo${soon} (?<value>.+?)`)],
    [
      "age",
      form(String.raw`${who}(?:ho|ha|compio|ho compiuto|ha compiuto)${soon} (?<value>\d{1,3}|[a-zàèéìòù]+) anni`),
    ],
    ["birthday", form(`${who}(?:sono|è) nat[oa] (?:il|nel|l['’]) ?(?<value>.*?\\d.*?)`)],
    [
      "port",
      form(
        String.raw`(?<who>.+?) (?:ascolta|gira|funziona|è in ascolto|è raggiungibile)${soon} (?:sulla|alla) porta (?<value>\S+)`,
      ),
    ],
    ["port", form(String.raw`(?<who>.+?) (?:usa|utilizza)${soon} la porta (?<value>\S+)`)],
    ["owner", form(`(?<who>.+?) appartiene${soon} (?:a|al|alla) (?<value>.+?)`)],
    ["owner", form(`(?<who>.+?) è${soon} di proprietà di (?<value>.+?)`)],
    [
      "lead",
      form(
        `(?<who>.+?) (?:è|sono)${soon} (?:dirett[oa]|gestit[oa]|guidat[oa]|mantenut[oa]|allenat[oa]) da (?<value>.+?)`,
      ),
    ],
    ["price", form(String.raw`(?<who>.+?) cost(?:a|ano)${soon} (?<value>.*?\d.*?)`)],
    ["limit", form(String.raw`(?<who>.+?) (?:è|sono)${soon} limitat[oaie] a (?<value>.*?\d.*?)`)],
    [
      "location",
      form(
        `(?<who>(?:il |la |l['’]|lo |nostra |nostro ).+?) (?:si trova|è situat[oa]|è ospitat[oa])${soon} (?:a|ad|in|nel|nella) (?<value>.+?)`,
      ),
    ],
    ["height", form(String.raw`${who}(?:sono alt[oa]|è alt[oa]) (?<value>\d.*?)`)],
    ["weight", form(String.raw`${who}pes[oa]${soon} (?<value>\d.*?)`)],
    ["size", form(String.raw`${who}(?:porto|porta)${soon} il (?<value>\d+)`)],
    ["car", form(String.raw`${who}(?:guido|guida)${soon} (?:un |una |un['’])(?<value>[\p{Lu}].*?)`)],
  ],
  also: "anche|inoltre|secondo|seconda|altro|altra|un altro|un'altra|aggiuntivo|a volte|ogni tanto|entrambi|part-time|tra gli altri|pure",
  changed:
    "adesso|ora|ormai|oggi|da ora|d'ora in poi|a partire|da ieri|da poco|invece|al posto|correzione|in realtà|alla fine|nuovo|nuova|non .{1,40} più|trasferito|trasferita|trasferiti|traslocato|cambiato|cambiata|cambiare|passato|passata|passato a|passata a|sostituito|sostituita|rimandato|rimandata|rinviato|rinviata|spostato|spostata|anticipato|anticipata|rinominato|rinominata|migrato|aumentato|aumentata|salito|sceso|diminuito|diventato|diventata|è diventato|è diventata",
  ended:
    "non .{1,40} più|mai più|smesso|ho smesso|ha smesso|lasciato|lasciata|abbandonato|licenziato|annullato|annullata|cancellato|cancellata|eliminato|finito|finita",
  replaced: [
    /(?:al posto di|al posto del|al posto della|invece di|invece del|invece della|anziché) (?:il |la |lo |l['’])?(?<old>[^,.;]{1,120}?)(?:[,.;]|$)/iu,
    /(?:passat[oai]|cambiato|migrat[oai]|trasferit[oai]) da (?<old>[^,.;]{1,120}?) a /iu,
    /sostituit[oai] (?:il |la )?(?<old>[^,.;]{1,120}?) con /iu,
  ],
  additive:
    "ho ha abbiamo possiedo piace piacciono amo adoro odio parlo parla parliamo conosco so imparo impara gioco gioca suono suona bisogno voglio allergico allergica colleziono visitato leggo comprato adottato posso contiene include",
  remarks: "e|o|ma|perché|da|dal|con|per|quando|mentre|che|dove|fino|vicino|se|come|anche|solo|i|gli|le|a|in|su|nel",
  since: "da|dal|dalla|a partire|dopo|fino",
  dates:
    "lunedì|martedì|mercoledì|giovedì|venerdì|sabato|domenica|gennaio|febbraio|marzo|aprile|maggio|giugno|luglio|agosto|settembre|ottobre|novembre|dicembre|oggi|domani|mezzogiorno|mezzanotte|mattina|sera|settimana|mese|anno|primavera|estate|autunno|inverno|ore|h|trimestre",
};

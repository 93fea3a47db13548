import { delayPattern, type Lexicon } from "./lexicon.ts";

const lead =
  "^(?:(?:alors|et|mais|au fait|correction|en fait|désormais|maintenant|depuis peu|aujourd'hui|dorénavant|à présent)[,:]? )*";
const who = String.raw`(?<who>je|j['’]|nous|on|il|elle|(?:mon|ma|mes|notre|son|sa|le|la|l['’]) ?(?:[\p{L}'’-]+ ){0,2}[\p{L}'’-]+|[\p{Lu}][\p{L}-]+(?: [\p{Lu}][\p{L}-]+)?)`;
const soon = "(?: maintenant| désormais| actuellement| aujourd'hui| à présent| dorénavant| récemment| tous les deux)*";
const form = (rest: string) => delayPattern(`${lead}${rest}[.!]*$`, "iu");

export const french: Lexicon = {
  code: "fr",
  marks:
    "le la les un une des est sont je j' il elle nous vous mon ma mes notre et de du au aux en que qui ne pas à pour avec sur dans chez c' l' d' a ai",
  expansions: [
    [/\b(j|l|d|n|m|t|s|c|qu)['’](?=\p{L})/giu, "$1e "],
    [/\bque\b(?= (?:il|elle|on))/giu, "que"],
    [/\bau\b/giu, "à le"],
    [/\baux\b/giu, "à les"],
  ],
  empty: "le la les un une des du de se ce cela ça suis es est sont sommes ai as a avons ont que ne y en",
  fillers:
    "s'il te plaît|s'il vous plaît|souviens-toi(?: que)?|n'oublie pas(?: que)?|retiens(?: que)?|note(?: que)?|au fait|vraiment|très|assez|actuellement|en ce moment|toujours|comme je l'ai dit|simplement|bien",
  self: "je j me moi nous on",
  own: "mon ma mes mien mienne notre nos",
  others: "il elle ils elles son sa ses leur leurs lui",
  asking:
    "quel quelle quels quelles qui que quoi quand où pourquoi comment combien est-ce qu t-il sont suis es était dois doit doivent peut peux faut tu ton ta tes te vous votre moi dis donne montre cite ce cette ces cet ou mais si plus aussi très tout tous ça être avoir fait fais faisons faire par sans entre son sa ses leur se ai as avez",
  negations: "pas jamais aucun aucune sans ni non rien",
  numbers:
    "zéro un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize dix-sept dix-huit dix-neuf vingt",
  synonyms:
    "email=e-mail,mail,courriel,mél préféré=préférée,favori,favorite,préférés,préférées km=kilomètre,kilomètres kg=kilo,kilos,kilogrammes h=heure,heures min=minute,minutes €=euro,euros %=pourcent voiture=auto,bagnole vélo=bicyclette téléphone=portable,mobile habite=vis,réside appartement=appart télé=télévision maman=mère papa=père lundi=lundis mardi=mardis mercredi=mercredis jeudi=jeudis vendredi=vendredis samedi=samedis dimanche=dimanches",
  copula:
    "est|sont|c'est|ce est|est devenu|est devenue|est passé à|est passée à|s'appelle|se appelle|a été fixé à|a été fixée à|=|:",
  head: "first",
  complements: "de|du|des|d'|d’|pour|sur|dans|à|au|en",
  attributes: {
    port: "port|numéro de port",
    owner: "propriétaire|responsable du produit",
    email: "email|adresse email|adresse mail|adresse e-mail",
    phone: "numéro de téléphone|numéro|téléphone",
    address: "adresse|adresse postale",
    name: "nom|prénom|nom de famille|nom de jeune fille",
    nickname: "surnom",
    username: "identifiant|nom d'utilisateur|nom de utilisateur|pseudo|login",
    password: "mot de passe|code wifi",
    code: "code|pin|code pin|code de la porte|numéro de client|numéro client|numéro de compte|numéro de vol|iban|numéro de série|digicode",
    version: "version",
    price: "prix|tarif|coût|cotisation",
    rent: "loyer",
    salary: "salaire",
    budget: "budget",
    deadline: "date limite|échéance|date de rendu|date de livraison|date de sortie|délai|date de lancement",
    birthday: "anniversaire|date de naissance",
    age: "âge",
    weight: "poids",
    height: "taille",
    size: "pointure|taille de vêtements",
    boss: "chef|cheffe|patron|patronne|manager|supérieur|supérieure",
    lead: "responsable|directeur|directrice|cheffe de projet|chef de projet|entraîneur|entraîneuse|pdg|interlocuteur|interlocutrice|président|présidente|maire|contact",
    doctor:
      "médecin|docteur|dentiste|thérapeute|vétérinaire|coiffeur|coiffeuse|comptable|avocat|avocate|généraliste|kiné",
    landlord: "propriétaire de l'appartement|bailleur",
    spouse: "femme|mari|épouse|époux|fiancé|fiancée",
    currency: "devise|monnaie",
    timezone: "fuseau horaire",
    url: "url|site|site web|site internet|domaine",
    host: "hôte|adresse ip|ip|nom d'hôte",
    limit: "limite|quota|plafond|capacité|seuil|limite de débit|durée de conservation",
    timeout: "timeout|délai d'attente",
    room: "salle|salle de réunion|chambre|bureau|place|siège|porte|quai|place de parking",
    plate: "plaque|plaque d'immatriculation|immatriculation",
    location: "lieu|emplacement|siège social|ville natale|domicile|lieu de naissance",
    branch: "branche|branche par défaut|branche principale",
    target:
      "cible|cible de déploiement|destination|devise du projet|mascotte|slogan|thème|groupe sanguin|signe astrologique|nationalité|navigateur par défaut|éditeur par défaut|titre|nom de code",
    colour: "couleur",
    capital: "capitale",
    interval: "intervalle|fréquence",
    language: "langue maternelle",
    provider: "fournisseur|opérateur|banque|mutuelle|assureur|hébergeur|fournisseur d'accès",
    time: "heure de début|heure de départ|heure d'ouverture|heure du coucher|heure d'arrivée",
  },
  favourites: [
    form(
      String.raw`(?<who>mon|ma|mes|notre|son|sa) (?:nouveau |nouvelle )?(?<about>[\p{L} -]+?) (?:préférée?s?|favorite?s?)(?:,? c['’]est| est| sont| est devenue?)(?: maintenant| désormais| aujourd'hui)? (?:le |la |les |l['’]|un |une )?(?<value>.+?)`,
    ),
    form(
      String.raw`(?:le |la |les |l['’])?(?<value>[^.]+?) (?:est|sont)(?: maintenant| désormais)? (?<who>mon|ma|mes|notre|son|sa) (?:nouveau |nouvelle )?(?<about>[\p{L} -]+?) (?:préférée?s?|favorite?s?)`,
    ),
  ],
  facts: [
    [
      "residence",
      form(
        `${who} ?(?:habite|habitons|habitent|vis|vit|vivons|réside|loge)${soon} (?:à|a|en|au|aux|dans|chez|sur) (?:la |le |les |l['’])?(?<value>.+?)`,
      ),
    ],
    [
      "residence",
      form(
        `${who} ?(?:ai|a|avons|vient de|viens de|suis|est|sommes)(?: récemment)?${soon} (?:déménagée?s?|emménagée?s?|déménager|emménager|partie? vivre|partis vivre|installée?s?|me suis installée?|m['’]installer)(?: de .+?)? (?:à|a|en|au|aux|dans) (?:la |le |l['’])?(?<value>.+?)`,
      ),
    ],
    ["residence", form(`je me suis installée? (?:à|en|au|dans) (?<value>.+?)`)],
    [
      "employer",
      form(`${who} ?(?:travaille|travaillons|bosse|travaillent)${soon} (?:chez|pour|à la|à l['’]|au|à) (?<value>.+?)`),
    ],
    [
      "employer",
      form(
        `${who} ?(?:ai|a)${soon} (?:rejoint|été embauchée? (?:par|chez)|été engagée? (?:par|chez)|commencé chez|pris un poste chez) (?<value>.+?)`,
      ),
    ],
    [
      "employer",
      form(`${who} ?(?:suis|est)${soon} (?:passée? chez|entrée? chez|employée? (?:chez|par)) (?<value>.+?)`),
    ],
    ["employer", form(`(?<who>mon|notre) (?:nouvel |actuel )?employeur (?:actuel )?est${soon} (?<value>.+?)`)],
    ["occupation", form(`${who} ?(?:travaille|bosse)${soon} comme (?<value>.+?)`)],
    ["occupation", form(`(?<who>mon|son) (?:nouveau )?métier est${soon} (?<value>.+?)`)],
    ["name", form(`(?<who>je) (?:m['’]appelle|me appelle)${soon} (?<value>.+?)`)],
    ["age", form(String.raw`${who} ?(?:ai|a)${soon} (?<value>\d{1,3}|[a-zé-]+) ans`)],
    ["birthday", form(`${who} ?(?:suis|est) née? (?:le|en) (?<value>.*?\\d.*?)`)],
    [
      "port",
      form(
        String.raw`(?<who>.+?) (?:écoute|tourne|fonctionne|est accessible|est exposée?)${soon} sur le port (?<value>\S+)`,
      ),
    ],
    ["port", form(String.raw`(?<who>.+?) utilise${soon} le port (?<value>\S+)`)],
    ["owner", form(`(?<who>.+?) appartient${soon} (?:à|au) (?<value>.+?)`)],
    [
      "lead",
      form(
        `(?<who>.+?) (?:est|sont)${soon} (?:dirigée?s?|gérée?s?|pilotée?s?|maintenue?s?|entraînée?s?|animée?s?) par (?<value>.+?)`,
      ),
    ],
    ["price", form(String.raw`(?<who>.+?) coûte(?:nt)?${soon} (?<value>.*?\d.*?)`)],
    ["limit", form(String.raw`(?<who>.+?) (?:est|sont)${soon} (?:limitée?s?|plafonnée?s?) à (?<value>.*?\d.*?)`)],
    [
      "location",
      form(
        `(?<who>(?:le |la |l['’]|notre ).+?) (?:se trouve|est située?|est hébergée?)${soon} (?:à|au|en|dans) (?<value>.+?)`,
      ),
    ],
    ["height", form(String.raw`${who} ?mesure (?<value>\d.*?)`)],
    ["weight", form(String.raw`${who} ?pèse${soon} (?<value>\d.*?)`)],
    ["size", form(String.raw`${who} ?(?:chausse|fais)${soon} du (?<value>\d+)`)],
    [
      "car",
      form(String.raw`${who} ?(?:conduis|conduit|roule en|roule dans)${soon} (?:une |un )?(?<value>[\p{Lu}].*?)`),
    ],
  ],
  also: "aussi|également|en plus|deuxième|second|seconde|autre|supplémentaire|parfois|de temps en temps|les deux|à mi-temps|entre autres",
  changed:
    "maintenant|désormais|dorénavant|à présent|aujourd'hui|à partir de|depuis peu|depuis hier|au lieu|plutôt|à la place|correction|en fait|finalement|nouveau|nouvelle|nouvel|plus maintenant|ne .{1,40} plus|n['’].{1,40} plus|déménagé|emménagé|changé|changée|changer|passé|passée|passé à|passée à|remplacé|remplacée|reporté|reportée|repoussé|repoussée|déplacé|déplacée|avancé|avancée|renommé|renommée|migré|augmenté|baissé|devenu|devenue|est devenu|est devenue",
  ended:
    "ne .{1,40} plus|n['’].{1,40} plus|plus jamais|arrêté|arrêtée|cessé|abandonné|abandonnée|quitté|quittée|annulé|annulée|supprimé|supprimée|fini|finie|résilié|résiliée",
  replaced: [
    /(?:au lieu d(?:e|u|es|['’])|à la place d(?:e|u|es|['’])|plutôt qu(?:e|['’])|en remplacement d(?:e|u)) ?(?:le |la |les |l['’]|du |des )?(?<old>[^,.;]{1,120}?)(?:[,.;]|$)/iu,
    /(?:passée?s?|changée?|migrée?s?|déménagée?s?) de (?<old>[^,.;]{1,120}?) (?:à|vers|pour) /iu,
    /remplacée? (?<old>[^,.;]{1,120}?) par /iu,
  ],
  additive:
    "ai a avons ont possède aime aimons adore déteste parle parlons connais connaît apprends apprend joue besoin veux veut allergique collectionne visité lis lit acheté adopté peux prend contient",
  remarks:
    "et|ou|mais|parce|car|depuis|avec|pour|quand|pendant|qui|que|où|jusqu'à|près|si|comme|bien|seulement|le|les|dans|sur|à|en",
  since: "depuis|dès|à partir|à compter|après|jusqu'à",
  dates:
    "lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche|janvier|février|mars|avril|mai|juin|juillet|août|septembre|octobre|novembre|décembre|aujourd'hui|demain|midi|minuit|matin|soir|semaine|mois|année|an|printemps|été|automne|hiver|heure|h|trimestre",
};

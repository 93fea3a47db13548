import { endsInQuestion } from "../../text/index.ts";
import type { Category } from "../memory.ts";

/** A fact that a pattern found in a sentence. */
export interface Fact {
  category: Category;
  factKey?: string;
  /** Whether the speaker asked to remember it. */
  explicit: boolean;
  /** The sentence, or the part of it to remember. */
  text: string;
}

type Read = (groups: Record<string, string | undefined>) => Omit<Fact, "text" | "explicit">;

interface Pattern {
  form: RegExp;
  read: Read;
}

const explicitForms: readonly RegExp[] = [
  /^(?:(?:please|also|and|but|ok(?:ay)?|so)[, ]+)*(?:remember|memori[sz]e|keep in mind|don'?t forget|make a note|take a note|note to self|save to memory)(?: this| for later)?(?:\s*[:,]|\s+that\b)?\s+(?<rest>.+)$/iu,
  /^(?:bitte )?(?:merk(?:e)? dir|denk daran|vergiss nicht|erinner dich(?: daran)?)(?: bitte)?\s*[:,]?\s*(?:dass )?(?<rest>.+)$/iu,
  /^(?:s'il te plaît,? )?(?:souviens-toi|retiens|n'oublie pas|note)(?: bien)?\s*(?:[:,]\s*)?(?:que |qu')(?<rest>.+)$/iu,
  /^(?:por favor,? )?(?:recuerda|acuérdate(?: de)?|no olvides|ten en cuenta)\s*[:,]?\s*(?:que )?(?<rest>.+)$/iu,
  /^(?:per favore,? )?(?:ricorda(?:ti)?|non dimenticare)\s*[:,]?\s*(?:che )?(?<rest>.+)$/iu,
  /^(?:por favor,? )?(?:lembre-se|lembra-te)(?: de)?\s*[:,]?\s*(?:que )?(?<rest>.+)$/iu,
  /^(?:请|帮我)?(?:记住|记下|别忘了|不要忘记)[：:，,\s]*(?<rest>.+)$/u,
  /^(?<rest>.+?)(?:ことを|を|って)?覚えて(?:おいて|ね|ください).*$/u,
];
const indirectRequest = /\b(?:remember|note|forget) (?:to|when|how|what|where|why|who|if|me)\b/i;

/** The subject of a fact ends at a comma or conjunction. */
const aside = /[,;]|\s(?:but|because|since|so|which|when|while|'?cause|instead|weil|aber|parce que|porque)\s/iu;
const key = (kind: string, about: string | undefined) => `${kind}:${normaliseKey((about ?? "").split(aside)[0] ?? "")}`;

const is = `(?:is now|are now|is|are|was changed to|(?:has |have )?changed to|(?:has |have )?moved to|=)`;
const tail = "(?<value>\\S.*?)[.!。！]?$";
const english = (form: string) =>
  new RegExp(`^(?:(?:well|so|ok|okay|actually|by the way|btw|oh|and|but|also|fyi|correction)[,:]? )*${form}`, "iu");

const patterns: readonly Pattern[] = [
  // Profile.
  {
    form: english(`(?:my name is|i am called|i'm called|you can call me|call me) ${tail}`),
    read: () => ({ category: "profile", factKey: "profile:name" }),
  },
  {
    form: /^(?:ich heiße|mein name ist|je m'appelle|mon nom est|me llamo|mi nombre es|mi chiamo|我叫|我的名字是|私の名前は) ?(?<value>\S.*)$/iu,
    read: () => ({ category: "profile", factKey: "profile:name" }),
  },
  {
    form: english(`(?:my birthday is|i was born (?:on|in)) ${tail}`),
    read: () => ({ category: "profile", factKey: "profile:birthday" }),
  },
  {
    form: english(
      String.raw`i(?:'m| am) (?:a|an) (?<value>(?:[\p{L}-]+ ){0,3}(?:engineer|developer|designer|teacher|doctor|nurse|student|lawyer|scientist|researcher|manager|writer|artist|musician|vegetarian|vegan|architect|programmer|consultant|founder|journalist|translator))\b.*$`,
    ),
    read: (g) => ({
      category: "profile",
      factKey: /veg(?:an|etarian)/i.test(g.value ?? "") ? "profile:diet" : "profile:occupation",
    }),
  },
  {
    form: english("i(?:'m| am) (?<value>(?:a )?(?:vegetarian|vegan|pescatarian)|allergic to .+?)[.!]?$"),
    read: (g) => ({
      category: "profile",
      factKey: /^allergic/i.test(g.value ?? "") ? "profile:allergy" : "profile:diet",
    }),
  },
  {
    form: english("i(?:'m| am) (?<value>(?:originally )?from (?!time\\b)\\S.*|\\d{1,3} years old\\b.*)$"),
    read: (g) => ({ category: "profile", factKey: /^\d/.test(g.value ?? "") ? "profile:age" : "profile:origin" }),
  },
  {
    form: english(
      "i(?:'ve got| have| own)(?: a| an| one| two| three| four| five| \\d+)(?: \\p{L}+){0,2} (?<about>dog|cat|pet|kid|child|children|son|daughter|brother|sister|wife|husband|partner|car|bike|house|flat|apartment|garden)s?\\b.*$",
    ),
    read: (g) => ({ category: "entities", factKey: key("own", g.about) }),
  },
  // Home and work.
  {
    form: english(`i(?: now| currently)? live in ${tail}`),
    read: () => ({ category: "entities", factKey: "entities:home" }),
  },
  {
    form: english(`i(?:'ve| have| just| recently)*(?: just)? moved to ${tail}`),
    read: () => ({ category: "entities", factKey: "entities:home" }),
  },
  {
    form: /^(?:ich wohne (?:jetzt )?in|ich bin nach .+ gezogen|j'habite à|vivo en|abito a|我住在|我搬到了?) ?(?<value>\S.*)$/iu,
    read: () => ({ category: "entities", factKey: "entities:home" }),
  },
  {
    form: english(`i(?: now| currently)? work (?:at|for) ${tail}`),
    read: () => ({ category: "entities", factKey: "entities:employer" }),
  },
  {
    form: /^(?:ich arbeite (?:jetzt )?bei|je travaille chez|trabajo en|我在(?=.+工作)) ?(?<value>\S.*)$/iu,
    read: () => ({ category: "entities", factKey: "entities:employer" }),
  },
  // Preferences.
  {
    form: english(`my (?:new )?favou?rite (?<about>.+?) ${is} ${tail}`),
    read: (g) => ({ category: "preferences", factKey: key("favourite", g.about) }),
  },
  {
    form: /^mein(?:e)? lieblings-?(?<about>\p{L}+) ist (?<value>\S.*)$/iu,
    read: (g) => ({ category: "preferences", factKey: key("favourite", g.about) }),
  },
  {
    form: /^我最喜欢的(?<about>.+?)是(?<value>.+)$/u,
    read: (g) => ({ category: "preferences", factKey: key("favourite", g.about) }),
  },
  {
    form: english(
      String.raw`i(?:'d)?(?: now| would| really| always)* (?:prefer|rather use|like to use) (?<value>\S.*?) (?:for|in|when|on) (?<about>[^.]+?)[.!]?$`,
    ),
    read: (g) => ({ category: "preferences", factKey: key("prefer for", g.about) }),
  },
  {
    form: english(
      String.raw`i(?:'d)?(?: now| would| really| always| much)* (?:prefer|rather have) (?<value>\S.*?) (?:to|over|than) (?<other>\S.*?)[.!]?$`,
    ),
    read: (g) => ({
      category: "preferences",
      factKey: key("prefer of", [normaliseKey(g.value ?? ""), normaliseKey(g.other ?? "")].sort().join(" ")),
    }),
  },
  {
    form: english(
      String.raw`i(?: really| also| just| still| absolutely| do not| don't| no longer| now)* (?:like|love|enjoy|hate|dislike|prefer|can't stand|cannot stand)(?: anymore)? (?<about>\S.*?)(?: any ?more)?[.!]?$`,
    ),
    read: (g) => ({ category: "preferences", factKey: key("like", g.about) }),
  },
  {
    form: /^(?:ich (?:mag|liebe|hasse|bevorzuge)|j(?:e |')(?:n')?(?:aime|adore|déteste|préfère)(?: pas| plus)?|(?:ya )?(?:no )?me gusta|odio|prefiero|preferisco|我(?:更|很|不|也)*(?:喜欢|讨厌|爱)) ?(?<about>\S.*?)(?: (?:nicht|nicht mehr))?[.!。！]?$/iu,
    read: (g) => ({ category: "preferences", factKey: key("like", g.about) }),
  },
  {
    form: english(
      String.raw`(?:from now on|please always|please never|always|never)[, ]+(?<value>(?!an? |the |been |so |such |my |in |on |at |again)\S.*)$`,
    ),
    read: () => ({ category: "preferences" }),
  },
  {
    form: /^(?:ab jetzt|von nun an|bitte immer|bitte nie|dorénavant|à partir de maintenant|a partir de ahora|从现在起|以后(?:请|都)?)[, ，]*(?<value>\S.*)$/iu,
    read: () => ({ category: "preferences" }),
  },
  // Decisions.
  {
    form: english(
      String.raw`(?:we|i)(?:'ve| have|'ll| will| are going to|'re going to)?(?: now| both| finally)* (?:decided to |agreed to |chose to |switched to |moved to )?(?:use|using|go with|going with|switch to|choose|chose|adopt) (?<value>\S.*?) (?:for|as) (?<about>[^.]+?)(?: (?:because|since|instead)\b.*)?[.!]?$`,
    ),
    read: (g) => ({ category: "entities", factKey: key("choice for", g.about) }),
  },
  {
    form: english(
      String.raw`(?:let's|let us) (?:use|go with|switch to|choose) (?<value>\S.*?) (?:for|as) (?<about>[^.]+?)[.!]?$`,
    ),
    read: (g) => ({ category: "entities", factKey: key("choice for", g.about) }),
  },
  {
    form: english(
      String.raw`(?:(?:we|i)(?:'ve| have)?(?: now| both| finally| all)* (?:decided|agreed|settled|chose)(?: on| to| that)?|the decision is(?: to| that)?|let's go with|it was decided that?) (?<value>\S.*)$`,
    ),
    read: () => ({ category: "events" }),
  },
  {
    form: /^(?:wir haben (?:uns )?(?:entschieden|beschlossen|geeinigt)|wir nehmen|nous avons décidé|on a décidé|hemos decidido|decidimos|abbiamo deciso|我们决定|决定了) ?(?<value>\S.*)$/iu,
    read: () => ({ category: "events" }),
  },
  // Properties of a person's things, and changes.
  {
    form: english(`(?:my|our) (?<about>[^,;?]{2,60}?) ${is} ${tail}`),
    read: (g) => ({ category: "entities", factKey: key("own", g.about) }),
  },
  {
    form: /^(?:mein(?:e)?|unser(?:e)?) (?<about>[^,;?]{2,60}?) (?:ist|sind) (?:jetzt )?(?<value>\S.*)$/iu,
    read: (g) => ({ category: "entities", factKey: key("own", g.about) }),
  },
  {
    form: /^我的(?<about>[^，,？]{1,20}?)(?:现在)?是(?<value>.+)$/u,
    read: (g) => ({ category: "entities", factKey: key("own", g.about) }),
  },
  {
    form: /^(?:correction|actually|update)[,:]? (?:the |our )?(?<about>[^,;?]{2,60}?) (?:is|are) (?<value>\S.*)$/iu,
    read: (g) => ({ category: "entities", factKey: key("the", g.about) }),
  },
  {
    form: english(
      `(?:the |our )?(?<about>[^,;?]{2,60}?) (?:is now|are now|(?:has |was |were )?changed (?:from .+ )?to|(?:has )?moved to|was renamed to) ${tail}`,
    ),
    read: (g) => ({ category: "entities", factKey: key("the", g.about) }),
  },
];

/** Broad patterns, used only for explicit requests to remember. */
const broadPatterns: readonly Pattern[] = [
  {
    form: /^(?:the |our |a |an )?(?<about>[^,;?]{2,60}?) (?:is|are) (?<value>\S.*)$/iu,
    read: (g) => ({ category: "entities", factKey: key("the", g.about) }),
  },
  {
    form: /^(?:der |die |das )?(?<about>[^,;?]{2,60}?) (?:ist|sind) (?<value>\S.*)$/iu,
    read: (g) => ({ category: "entities", factKey: key("the", g.about) }),
  },
  {
    form: /^(?:le |la |les |el |los |las )?(?<about>[^,;?]{2,60}?) (?:est|sont|es|son|è|é) (?<value>\S.*)$/iu,
    read: (g) => ({ category: "entities", factKey: key("the", g.about) }),
  },
  {
    form: /^(?<about>[^，,？]{1,20}?)(?:现在)?是(?<value>.+)$/u,
    read: (g) => ({ category: "entities", factKey: key("the", g.about) }),
  },
];

const sentenceCharsMax = 600;

/** The fact that a user's sentence states, if any. */
export function parseFact(sentence: string): Fact | undefined {
  const text = sentence.trim();
  if (text.length > sentenceCharsMax) return undefined;
  const rest = indirectRequest.test(text) ? undefined : parseExplicitRequest(text);
  if (rest !== undefined) {
    const known = matchPatterns(rest, patterns) ??
      matchPatterns(rest, broadPatterns) ?? { category: "entities" as const };
    return { ...known, explicit: true, text: rest };
  }
  if (endsInQuestion(text)) return undefined;
  const known = matchPatterns(text, patterns);
  return known && { ...known, explicit: false, text };
}

export function isExplicit(sentence: string): boolean {
  return !indirectRequest.test(sentence) && parseExplicitRequest(sentence.trim()) !== undefined;
}

function parseExplicitRequest(text: string): string | undefined {
  for (const form of explicitForms) {
    const rest = form.exec(text)?.groups?.rest?.trim();
    if (rest !== undefined && /[\p{L}\p{N}]/u.test(rest)) return endsInQuestion(rest) ? undefined : rest;
  }
  return undefined;
}

/** Statements about the conversation itself, and references that only make sense within it. */
const metaSubject =
  /^(?:(?:last |next |first |main |only |real |actual |other )?(?:question|problem|issue|point|guess|idea|understanding|concern|answer|request|plan|bad|apologies|message|prompt|task)s?)$/iu;
const pointing =
  /^(?:it|that|this|these|those|them|him|her|you|your|the (?:idea|way|answer|look|sound|first|second)|how|what|where|when|to (?:know|see|hear|think)|mind)\b/iu;

function matchPatterns(text: string, among: readonly Pattern[]): Omit<Fact, "text" | "explicit"> | undefined {
  for (const { form, read } of among) {
    const groups = form.exec(text)?.groups;
    if (!groups) continue;
    const about = groups.about?.trim() ?? groups.value?.trim() ?? "";
    return pointing.test(about) || metaSubject.test(about) ? undefined : read(groups);
  }
  return undefined;
}

const articles =
  /\b(?:the|a|an|my|our|his|her|their|your|new|current|der|die|das|le|la|les|el|los|las|really|much)\b/giu;

/** Normalises the subject of a fact, independent of case, articles and punctuation. */
export function normaliseKey(about: string): string {
  return about
    .normalize("NFKC")
    .toLowerCase()
    .replaceAll(articles, " ")
    .replaceAll(/[^\p{L}\p{N}]+/gu, " ")
    .trim()
    .slice(0, 120);
}

import { type Attribute, attributes, endsInQuestion, type Slot, type ValueKind } from "../../text/index.ts";
import { ownToken, selfToken, tokenise } from "./tokens.ts";
import { stripMarkers, type WordSets } from "./word-sets.ts";

/** A slot that a sentence fills: whose, which, and with what value. */
export interface SlotFill {
  /** Identifies the slot: two fills with the same key exclude each other. */
  key: string;
  /** The words of the value, without articles. */
  value: string;
  /** The text after the value; a value that changes leaves it without a subject. */
  remark: string;
}

const sentenceCharsMax = 400;

/** The slots that a sentence fills. `extra` are further single-valued attributes, from the settings. */
export function parseSlots(sentence: string, sets: WordSets, extra: readonly string[] = []): SlotFill[] {
  const text = prepareSentence(sentence, sets);
  if (text === "" || text.length > sentenceCharsMax || endsInQuestion(sentence)) return [];
  // What has ended fills nothing any more.
  if (sets.ended.test(sentence)) return [];
  const forms = compileAttributes(sets, extra);
  const fill =
    matchFavourite(text, sets) ??
    (isParticled(sets) ? matchParticle(text, sets, forms) : undefined) ??
    matchFact(text, sets) ??
    matchAttribute(text, sets, forms);
  return fill ? [fill] : [];
}

function prepareSentence(sentence: string, sets: WordSets): string {
  return sentence
    .normalize("NFKC")
    .replaceAll(sets.fillers, " ")
    .replaceAll(/\b(i)['’]m\b/giu, "$1 am")
    .replaceAll(/\b(i|we|he|she|they)['’]ve\b/giu, "$1 have")
    .replaceAll(/\s+/g, " ")
    .replace(/^[\s,:;.]+/u, "")
    .trim();
}

function matchFavourite(text: string, sets: WordSets): SlotFill | undefined {
  for (const form of sets.lexicon.favourites) {
    const groups = form.exec(text)?.groups;
    if (!groups) continue;
    const about = toKey(groups.about ?? "", sets);
    const who = toSubject(groups.who, sets);
    if (about === "" || who === undefined) return undefined;
    return createFill("favourite", who === "self" ? about : `${about} of ${who}`, groups.value ?? "", "any", sets);
  }
  return undefined;
}

const personKeys: Partial<Record<Slot, string>> = {
  residence: "entities:home",
  employer: "entities:employer",
  name: "profile:name",
  birthday: "profile:birthday",
  age: "profile:age",
  occupation: "profile:occupation",
};

function matchFact(text: string, sets: WordSets): SlotFill | undefined {
  for (const [slot, form] of sets.lexicon.facts) {
    const groups = form.exec(text)?.groups;
    if (!groups) continue;
    const who = toSubject(groups.who, sets);
    if (who === undefined) return undefined;
    const kind: ValueKind = slot in attributes ? attributes[slot as Attribute] : "any";
    const fill = createFill(slot, who, groups.value ?? "", slot === "owner" || slot === "lead" ? "name" : kind, sets);
    if (fill) return fill;
  }
  return undefined;
}

/** The subject of a slot; undefined for a pronoun that only its conversation explains. */
function toSubject(who: string | undefined, sets: WordSets): string | undefined {
  if (who === undefined) return "self";
  const words = who.toLowerCase().split(/[\s'’]+/u);
  if (words.some((word) => sets.others.has(word) || sets.others.has(word.replace(/의$/u, "")))) return undefined;
  const key = toKey(who, sets);
  return key === "" ? "self" : key;
}

/** Words in a fixed order, so that "port of the shop" and "the shop's port" are one. */
function toKey(text: string, sets: WordSets): string {
  const tokens = tokenise(stripMarkers(text, sets.markers).replaceAll(/['’]s?(?=\s|$)/gu, ""), sets)
    .map((token) => (token.text.startsWith("\u0001") ? token.text : token.root.replace(/[的の의]$/u, "").toLowerCase()))
    .filter((word) => word !== "" && word !== selfToken && word !== ownToken && !sets.complements.has(word));
  return tokens.sort().join(" ").slice(0, 120);
}

interface AttributeForm {
  slot: string;
  kind: ValueKind;
  words: string;
  /** The same words, one by one. */
  list: readonly string[];
}

const compiled = new Map<string, AttributeForm[]>();

/** The names of attributes, the longest first. */
function compileAttributes(sets: WordSets, extra: readonly string[]): AttributeForm[] {
  const key = `${sets.lexicon.code} ${extra.join("|")}`;
  const known = compiled.get(key);
  if (known) return known;
  const listed = Object.entries(sets.lexicon.attributes).flatMap(([slot, words]) =>
    words.split("|").map((one) => ({ slot, kind: attributes[slot as Attribute], words: one })),
  );
  const added = extra.map((one) => ({ slot: one.toLowerCase(), kind: "any" as const, words: one.toLowerCase() }));
  const forms = [...listed, ...added]
    .map((one) => ({ ...one, list: one.words.split(" ") }))
    .sort((a, b) => b.words.length - a.words.length);
  compiled.set(key, forms);
  return forms;
}

function matchAttribute(text: string, sets: WordSets, forms: readonly AttributeForm[]): SlotFill | undefined {
  if (isParticled(sets)) return undefined;
  const parts = splitAtCopula(text, sets);
  if (!parts) return undefined;
  const [left, right] = parts;
  const head = findHead(left, sets, forms);
  if (head) return createFill(head.form.slot, head.subject, right, head.form.kind, sets);
  const tail = findHead(right, sets, forms);
  return tail && left.split(" ").length <= 5
    ? createFill(tail.form.slot, tail.subject, left, tail.form.kind, sets)
    : undefined;
}

function splitAtCopula(text: string, sets: WordSets): [string, string] | undefined {
  const groups = sets.copulaSplit.exec(text)?.groups;
  return groups ? [groups.left ?? "", (groups.right ?? "").replace(/(?<![.!。！\s])[.!。！\s]+$/u, "")] : undefined;
}

/** The attribute at the head of a noun phrase, and the rest of the phrase as its subject. */
function findHead(
  phrase: string,
  sets: WordSets,
  forms: readonly AttributeForm[],
): { form: AttributeForm; subject: string } | undefined {
  const words = stripMarkers(phrase, sets.markers)
    .toLowerCase()
    .split(/\s+/u)
    .filter((word) => word !== "")
    .map((word) => sets.synonyms.get(word) ?? word);
  if (words.some((word) => sets.others.has(word)) || words.length > 12) return undefined;
  for (const form of forms) {
    const own = form.list;
    const at = findHeadAt(words, own, sets);
    if (at === undefined) continue;
    const compound = (words[at] ?? "").slice(0, -(own[0]?.length ?? 0)).replace(/-$/u, "");
    const rest = [...words.slice(0, at), ...(own.length === 1 ? [compound] : []), ...words.slice(at + own.length)];
    const subject = toKey(rest.join(" "), sets);
    return { form, subject: subject === "" ? "self" : subject };
  }
  return undefined;
}

function findHeadAt(words: readonly string[], own: readonly string[], sets: WordSets): number | undefined {
  const { head, code } = sets.lexicon;
  const isLight = (word: string) =>
    sets.empty.has(word) || sets.self.has(word) || sets.own.has(word) || sets.numbers.has(word);
  for (let at = 0; at + own.length <= words.length; at += 1) {
    const matches = own.every((word, index) => {
      const found = words[at + index] ?? "";
      // German writes "Staging-Port" and "Datenbankport".
      return found === word || (code === "de" && own.length === 1 && word.length > 3 && found.endsWith(word));
    });
    if (!matches) continue;
    const next = words[at + own.length];
    const before = words.slice(0, at);
    if (head === "first" && before.length <= 3 && before.every(isLight)) return at;
    if (head === "last" && (next === undefined || sets.complements.has(next))) return at;
  }
  return undefined;
}

const particles: Readonly<Record<string, { left: RegExp; end: RegExp }>> = {
  zh: {
    left: /^(?<left>[^，。]{1,40}?)(?:现在|目前|如今|已经)*(?:是|为|：|:|=|改成了?|改为了?|改到了?|变成了?|换成了?|变为|调整为|推迟到了?|提前到了?|移到了?|涨到了?|降到了?)(?<value>[^，。]{1,400}?)了?[。！.!]*$/u,
    end: /(?:的)$/u,
  },
  ja: {
    left: /^(?<left>[^、。]{1,40}?)(?:は|が|：|:|=)、?(?:今は|今|現在は|現在|もう)?、?(?<value>[^、。]+?)(?:です|だ|である|になりました|になった|に変わりました|に変わった|に変更になりました|に変更されました|に変更しました|に延期されました|に延期になりました|に移りました)(?:よ|ね)?[。！.!]*$/u,
    end: /(?:の)$/u,
  },
  ko: {
    left: /^(?<left>[^,.]{1,40}?)(?:(?:은|는|이|가) |: ?)(?:이제 |지금은 |현재 |현재는 )?(?<value>[^,]+?)(?:입니다|이에요|예요|이다|이야|야|(?:으로|로) (?:바뀌었습니다|바뀌었어요|변경되었습니다|변경됐습니다|변경됐어요|연기되었습니다|연기됐어요|올랐습니다|올랐어요|미뤄졌습니다|옮겼습니다))[.!]*$/u,
    end: /의$/u,
  },
};

function isParticled({ lexicon }: WordSets): boolean {
  return lexicon.unspaced === true || lexicon.code === "ko";
}

/** Chinese, Japanese and Korean: the attribute stands before a copula or particle. */
function matchParticle(text: string, sets: WordSets, forms: readonly AttributeForm[]): SlotFill | undefined {
  const particle = particles[sets.lexicon.code];
  const groups = particle?.left.exec(text)?.groups;
  if (!particle || !groups) return undefined;
  const left = (groups.left ?? "").replaceAll(/新的|新しい|(?<!\S)(?:새|새로운) |现在|目前/gu, "").trim();
  const form = forms.find((one) => left === one.words || left.endsWith(one.words));
  if (!form) return undefined;
  const before = left
    .slice(0, -form.words.length)
    .trim()
    .replace(/新的?$/u, "")
    .replace(particle.end, "");
  const who = toSubject(before === "" ? undefined : before, sets);
  return who === undefined ? undefined : createFill(form.slot, who, groups.value ?? "", form.kind, sets);
}

function createFill(slot: string, who: string, stated: string, kind: ValueKind, sets: WordSets): SlotFill | undefined {
  const { value, remark } = splitValue(stated, kind, slot, sets);
  if (value === "" || !hasKind(value, kind, slot, sets)) return undefined;
  const words = tokenise(value, sets);
  if (words.length === 0 || words.some(({ text }) => sets.negations.has(text))) return undefined;
  const person = who === "self" ? personKeys[slot as Slot] : undefined;
  const key = person ?? (slot === "favourite" ? `favourite:${who}` : `slot:${slot} ${who}`);
  return { key, value: words.map(({ root }) => root.toLowerCase()).join(" "), remark };
}

/** Separates a value from remarks about it: "Ghent since May", "Acme and I like it". */
function splitValue(stated: string, kind: ValueKind, slot: string, sets: WordSets): { value: string; remark: string } {
  const text = stripMarkers(stated.replace(/(?<![.!。！\s])[.!。！\s]+$/u, ""), sets.markers, false)
    .replaceAll(/\s+/g, " ")
    .trim();
  if (kind === "date" || kind === "number" || slot === "address") return { value: text, remark: "" };
  const at = text.slice(1).search(sets.remarks) + 1;
  if (at === 0) return { value: text, remark: "" };
  return { value: text.slice(0, at).trim(), remark: text.slice(at).trim() };
}

const wordsMax = 8;

function hasKind(value: string, kind: ValueKind, slot: string, sets: WordSets): boolean {
  const isCased = /[\p{Lu}\p{Ll}]/u.test(value);
  const hasCapital = /\p{Lu}/u.test(value);
  if (value.split(" ").length > wordsMax) return false;
  switch (kind) {
    case "number":
      return (
        /\d/.test(value) ||
        value.split(" ").some((word) => sets.numbers.has(word.toLowerCase())) ||
        /[一二三四五六七八九十百千万]/u.test(value)
      );
    case "email":
      return value.includes("@");
    case "date":
      return /\d/.test(value) || sets.dates.test(value);
    case "name":
      return isCased ? hasCapital : [...value].length <= 12 && !/^(?:一个|个|很|非常)|[いな]$/u.test(value);
    case "code":
      return /[\d\p{Lu}@"“«„]/u.test(value) || (!isCased && [...value].length <= 8);
    case "any":
      if (["address", "location", "residence", "employer", "car", "url"].includes(slot)) {
        return !isCased || hasCapital || /[\d.]/.test(value);
      }
      return true;
  }
}

const scripts: Readonly<Record<string, RegExp>> = {
  Latin: /\p{Script=Latin}/gu,
  Chinese: /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/gu,
  Korean: /\p{Script=Hangul}/gu,
  Cyrillic: /\p{Script=Cyrillic}/gu,
  Arabic: /\p{Script=Arabic}/gu,
  Hebrew: /\p{Script=Hebrew}/gu,
  Greek: /\p{Script=Greek}/gu,
  Devanagari: /\p{Script=Devanagari}/gu,
  Thai: /\p{Script=Thai}/gu,
};

/** Words that are frequent in one language and rare in others. */
const smallWords: Readonly<Record<string, readonly string[]>> = {
  English: ["the", "and", "of", "is", "with", "was", "that", "this", "have", "for", "it", "are"],
  German: ["der", "und", "ist", "nicht", "das", "mit", "ein", "eine", "auf", "wurde", "auch", "sich"],
  French: ["le", "les", "est", "une", "des", "dans", "pour", "qui", "pas", "avec", "sur", "du"],
  Spanish: ["el", "los", "una", "por", "las", "está", "pero", "como", "más", "del", "y", "fue"],
  Italian: ["il", "che", "di", "non", "della", "sono", "gli", "una", "per", "è", "anche", "nel"],
  Portuguese: ["não", "uma", "os", "com", "em", "do", "da", "são", "mais", "foi", "ele", "ao"],
};

const sampleChars = 20_000;

/** The language of a summary, when it clearly differs from that of its sources. */
export function findForeignLanguage(sources: string, content: string): { expected: string; found: string } | undefined {
  const [expectedScript, foundScript] = [detectScript(sources), detectScript(content)];
  if (expectedScript !== undefined && foundScript !== undefined && expectedScript !== foundScript) {
    return { expected: expectedScript, found: foundScript };
  }
  const [expected, found] = [wordLanguage(sources), wordLanguage(content)];
  if (expected === undefined || found === undefined || expected === found) return undefined;
  return { expected, found };
}

/** The script of nearly all letters; undefined for a mixture or for too few letters. */
function detectScript(text: string): string | undefined {
  const sample = takeSample(text);
  // An ideograph counts as a few letters.
  const counts = Object.entries(scripts).map(([name, pattern]) => {
    const count = sample.match(pattern)?.length ?? 0;
    return { name, count: name === "Chinese" ? 3 * count : count };
  });
  const total = counts.reduce((sum, { count }) => sum + count, 0);
  return total < 60 ? undefined : counts.find(({ count }) => count > 0.8 * total)?.name;
}

function wordLanguage(text: string): string | undefined {
  const words =
    takeSample(text)
      .toLowerCase()
      .match(/\p{L}+/gu) ?? [];
  if (words.length < 40) return undefined;
  const counts = Object.entries(smallWords).map(([name, list]) => {
    const set = new Set(list);
    return { name, count: words.filter((word) => set.has(word)).length };
  });
  counts.sort((a, b) => b.count - a.count);
  const [first, second] = counts;
  if (first === undefined || second === undefined) return undefined;
  return first.count > 0.06 * words.length && first.count > 3 * second.count ? first.name : undefined;
}

/** The start and the end are enough to detect a language. */
function takeSample(text: string): string {
  return text.length <= sampleChars ? text : text.slice(0, sampleChars / 2) + text.slice(-sampleChars / 2);
}

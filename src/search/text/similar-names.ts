const nameShape = /^[a-z]{3,32}$/;
/** Shorter consonants are shared by too many words. */
const consonantsMin = 3;

/** Whether two words may be spellings of one name: `muhammad` and `mohamed`, `faheem` and `fahim`. In lower case, without accents. */
export function isSimilarName(a: string, b: string): boolean {
  if (a[0] !== b[0] || !nameShape.test(a) || !nameShape.test(b)) return false;
  const consonants = listConsonants(a);
  return consonants.length >= consonantsMin && consonants === listConsonants(b);
}

/** The first letter and the consonants after it, doubled ones once. */
function listConsonants(word: string): string {
  return (
    word.charAt(0) +
    word
      .slice(1)
      .replaceAll(/[aeiouy]/g, "")
      .replaceAll(/(.)\1+/g, "$1")
  );
}

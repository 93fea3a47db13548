/** What stands between words and never inside an identifier. */
const separators = /[\s"'`()<>,;[\]{}|*]+/;
const charsMax = 2_000_000;
const lengthMax = 200;

/** Each describes a whole word; numbers alone are too common to be one. */
const patterns: readonly RegExp[] = [
  /^[a-z][a-z0-9+.-]{1,15}:\/\/\S{3,}$/i,
  /^(?:~\/|\.{0,2}\/|[A-Za-z]:\\)?(?:[\w@+.-]+[/\\])+[\w@+.-]*\.[A-Za-z]\w{0,7}$/,
  /^(?:~|\.{1,2})?\/[\w.@+-]{2,}(?:\/[\w.@+-]+)+$/,
  /^[\w.-]+@[\w-]+(?:\.[\w-]+)+$/,
  /^(?:localhost|[a-z0-9-]+(?:\.[a-z0-9-]+)+|[a-z][a-z0-9]*-[a-z0-9-]+):\d{2,5}$/i,
  /^\d{1,3}(?:\.\d{1,3}){3}$/,
  /^(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,64}$/,
  /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i,
  /^(?=\w*[_])(?=\w*\d)[A-Za-z]\w{4,}$/,
  /^[A-Z][A-Z0-9]{1,9}-\d{1,7}$/,
  /^#\d{2,7}$/,
  /^v?\d+\.\d+\.\d+(?:[-+][\w.]+)?$/,
];

/** The identifiers of a text, the most frequent first; of those as frequent, the later ones. */
export function findIdentifiers(text: string, max: number): { identifier: string; count: number }[] {
  const found = new Map<string, { identifier: string; count: number; last: number }>();
  const head = text.length <= charsMax ? text : text.slice(-charsMax);
  for (const [last, word] of head.split(separators).entries()) {
    if (word.length < 3 || word.length > lengthMax) continue;
    const identifier = word.replace(/^[=:]+|[.:!?。，]+$/g, "");
    const known = found.get(identifier);
    if (known !== undefined) {
      known.count += 1;
      known.last = last;
    } else if (/[\d/\\@]/.test(identifier) && patterns.some((pattern) => pattern.test(identifier))) {
      found.set(identifier, { identifier, count: 1, last });
    }
  }
  return [...found.values()]
    .sort((a, b) => b.count - a.count || b.last - a.last)
    .slice(0, max)
    .map(({ identifier, count }) => ({ identifier, count }));
}

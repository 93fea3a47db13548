/** Words are counted in a table of fixed size, so that no input can make it grow. */
export const tableSize = 1 << 18;

/** Properties of a word's spelling. */
export const shapes = { digit: 1, capital: 2, identifier: 4, ideographic: 8 } as const;

export type VisitWord = (slot: number, shape: number, length: number) => void;

const kinds = { none: 0, lower: 1, upper: 2, digit: 3, joiner: 4, other: 5, ideograph: 6 } as const;

/** The kinds of characters by range; all others are `none`. Later lines override earlier ones. */
const ranges: readonly (readonly [first: number, last: number, kind: number])[] = [
  [0x61, 0x7a, kinds.lower],
  [0x41, 0x5a, kinds.upper],
  [0x30, 0x39, kinds.digit],
  [0x5f, 0x5f, kinds.joiner],
  [0xc0, 0x1fff, kinds.other],
  [0x3041, 0x30fe, kinds.ideograph],
  [0x3400, 0x9fff, kinds.ideograph],
  [0xac00, 0xd7a3, kinds.ideograph],
];

const characterKinds = new Uint8Array(0x1_0000);
for (const [first, last, kind] of ranges) characterKinds.fill(kind, first, last + 1);

const seed = 0x811c_9dc5;
const prime = 0x0100_0193;
const letterS = 0x73;

/**
 * Visits the words of a text: runs of letters and digits in lower case, plurals as singulars, and every pair of
 * neighbouring characters in scripts without spaces. One pass, without allocating strings.
 */
export function scanWords(text: string, visit: VisitWord): void {
  let hash = seed;
  let hashBefore = seed;
  let length = 0;
  let shape = 0;
  let last = 0;
  let lastKind = 0;
  let lastIdeograph = 0;
  for (let index = 0; index <= text.length; index += 1) {
    const code = index < text.length ? text.charCodeAt(index) : 0;
    const kind = characterKinds[code] ?? 0;
    const isWord = kind !== kinds.none && kind !== kinds.ideograph;
    if (isWord) {
      const lower = kind === kinds.upper ? code + 32 : code;
      if (length > 0 && (kind === kinds.digit) !== (lastKind === kinds.digit)) shape |= shapes.identifier;
      if (kind === kinds.digit) shape |= shapes.digit;
      else if (kind === kinds.joiner) shape |= shapes.identifier;
      else if (kind === kinds.upper)
        shape |= length === 0 || lastKind === kinds.upper ? shapes.capital : shapes.identifier;
      hashBefore = hash;
      hash = Math.imul(hash ^ lower, prime);
      length += 1;
      last = lower;
      lastKind = kind;
    } else if (length > 0) {
      visit(toSlot(last === letterS && length > 3 ? hashBefore : hash), shape, length);
      hash = seed;
      length = 0;
      shape = 0;
      last = 0;
    }
    if (kind === kinds.ideograph) {
      if (lastIdeograph !== 0) {
        visit(toSlot(Math.imul(Math.imul(seed ^ lastIdeograph, prime) ^ code, prime)), shapes.ideographic, 2);
      }
      lastIdeograph = code;
    } else lastIdeograph = 0;
  }
}

function toSlot(hash: number): number {
  return (hash ^ (hash >>> 15)) & (tableSize - 1);
}

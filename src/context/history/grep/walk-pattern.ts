/** One element of a pattern, with the depth of its group. */
export interface PatternAtom {
  kind: "literal" | "class" | "escape" | "any" | "open" | "close" | "bar" | "anchor";
  /** The character, for a literal. */
  text: string;
  depth: number;
  /** The quantifier as written: `*`, `+`, `?`, `{2,3}`, or empty. */
  quantifier: string;
}

const literalEscape = /[^\p{L}\p{N}]/u;

/**
 * Reads a regular expression from left to right, without building a tree. Undefined for unusual constructs (flags,
 * quoting, named groups, properties): the result must be correct, so in doubt there is none.
 */
export function walkPattern(pattern: string): PatternAtom[] | undefined {
  const atoms: PatternAtom[] = [];
  const characters = [...pattern];
  let depth = 0;
  for (let at = 0; at < characters.length; at += 1) {
    const char = characters[at] ?? "";
    if (char === "(") {
      if (characters[at + 1] === "?") {
        if (characters[at + 2] !== ":") return undefined;
        at += 2;
      }
      atoms.push({ kind: "open", text: "(", depth, quantifier: "" });
      depth += 1;
    } else if (char === ")") {
      depth -= 1;
      if (depth < 0) return undefined;
      atoms.push({ kind: "close", text: ")", depth, quantifier: "" });
    } else if (char === "|") atoms.push({ kind: "bar", text: "|", depth, quantifier: "" });
    else if (char === "^" || char === "$") atoms.push({ kind: "anchor", text: char, depth, quantifier: "" });
    else if (char === ".") atoms.push({ kind: "any", text: ".", depth, quantifier: "" });
    else if (char === "[") {
      const end = classEnd(characters, at);
      if (end === undefined) return undefined;
      atoms.push({ kind: "class", text: characters.slice(at, end + 1).join(""), depth, quantifier: "" });
      at = end;
    } else if (char === "\\") {
      at += 1;
      const escaped = characters[at];
      if (escaped === undefined) return undefined;
      if (literalEscape.test(escaped)) atoms.push({ kind: "literal", text: escaped, depth, quantifier: "" });
      else if (/[dDwWsS]/.test(escaped)) atoms.push({ kind: "escape", text: escaped, depth, quantifier: "" });
      else if (/[bB]/.test(escaped)) atoms.push({ kind: "anchor", text: `\\${escaped}`, depth, quantifier: "" });
      else return undefined;
    } else if (/[*+?]/.test(char)) {
      const last = atoms.at(-1);
      if (!last) return undefined;
      // A `?` after a quantifier makes it lazy: the same texts match, possibly with another length.
      if (last.quantifier === "") last.quantifier = char;
      else if (char !== "?") return undefined;
    } else if (char === "{") {
      const range = /^\{\d+(?:,\d*)?\}/.exec(characters.slice(at, at + 16).join(""))?.[0];
      const last = atoms.at(-1);
      if (range === undefined || last === undefined || last.quantifier !== "") return undefined;
      last.quantifier = range;
      at += range.length - 1;
    } else atoms.push({ kind: "literal", text: char, depth, quantifier: "" });
  }
  return depth === 0 ? atoms : undefined;
}

/** The end of a character class; undefined for one with unusual content. */
function classEnd(characters: readonly string[], from: number): number | undefined {
  for (let at = from + 1; at < characters.length; at += 1) {
    const char = characters[at];
    if (char === "[") return undefined;
    if (char === "\\") {
      at += 1;
      if (/[a-zA-Z0-9]/.test(characters[at] ?? "") && !/[dDwWsSnrt]/.test(characters[at] ?? "")) return undefined;
    } else if (char === "]" && at > from + 1 && !(at === from + 2 && characters[from + 1] === "^")) return at;
  }
  return undefined;
}

/** The least and the most times an atom is repeated. */
export function parseQuantifier(quantifier: string): [number, number] {
  if (quantifier === "") return [1, 1];
  if (quantifier === "?") return [0, 1];
  if (quantifier === "*") return [0, Number.POSITIVE_INFINITY];
  if (quantifier === "+") return [1, Number.POSITIVE_INFINITY];
  const [, least, comma, most] = /^\{(\d{1,9})(,?)(\d{0,9})\}$/.exec(quantifier) ?? [];
  const min = Number(least);
  return [min, comma === "" ? min : most === "" ? Number.POSITIVE_INFINITY : Number(most)];
}

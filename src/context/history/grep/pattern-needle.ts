import { type PatternAtom, parseQuantifier, walkPattern } from "./walk-pattern.ts";

const needleLengthMin = 3;
const ignoringCase = "(?i)";

/** A piece of text without blanks that every match of a pattern contains; undefined when none is known. */
export function findPatternNeedle(pattern: string): string | undefined {
  if (pattern.startsWith(ignoringCase)) return undefined;
  const atoms = walkPattern(pattern);
  return atoms && findNeedle(atoms);
}

/** The longest run of characters in every match: outside of groups and alternatives, and not optional. */
export function findNeedle(atoms: readonly PatternAtom[]): string | undefined {
  if (atoms.some((atom) => atom.kind === "bar" && atom.depth === 0)) return undefined;
  let best = "";
  let run = "";
  for (const atom of atoms) {
    const [least] = parseQuantifier(atom.quantifier);
    const stands = atom.kind === "literal" && atom.depth === 0 && least > 0 && !/\s/.test(atom.text);
    if (stands) run += atom.text;
    if (run.length > best.length) best = run;
    // Anything may follow a repetition, so the run ends with the first repeated character.
    if (!stands || atom.quantifier !== "") run = "";
  }
  return best.length >= needleLengthMin ? best : undefined;
}

import { RE2JS } from "re2js";
import { VarveError } from "../../../domain/index.ts";
import { findNeedle } from "./pattern-needle.ts";
import { type PatternAtom, parseQuantifier, walkPattern } from "./walk-pattern.ts";

/** A compiled regular expression. */
export interface Pattern {
  /** The first match; undefined without one. Takes linear time. */
  find(text: string): { from: number; to: number } | undefined;
  /** A piece of text without blanks that every match contains; undefined when none is known. */
  needle?: string;
}

const patternLengthMax = 1_000;
/** Above these limits backtracking could take long; only the linear engine is used. */
const quickTextMax = 2_000;
const branchesMax = 64;

/** Compiles a pattern, or throws an error that explains what is wrong with it. */
export function compilePattern(source: string): Pattern {
  if (source === "") throw badPattern("It is empty.");
  if (source.length > patternLengthMax) throw badPattern(`It is longer than ${patternLengthMax} characters.`);
  const linear = compileLinear(source);
  const ignoresCase = source.startsWith("(?i)");
  const atoms = walkPattern(ignoresCase ? source.slice(4) : source);
  const quick = atoms && quickTest(atoms, ignoresCase);
  const needle = atoms && !ignoresCase ? findNeedle(atoms) : undefined;
  return {
    ...(needle === undefined ? {} : { needle }),
    find(text) {
      // The native engine is many times faster. It only excludes texts: every match is checked by the linear engine.
      if (quick && text.length <= quickTextMax && !quick.test(text)) return undefined;
      if (needle !== undefined && !text.includes(needle)) return undefined;
      const matcher = linear.matcher(text);
      return matcher.find() ? { from: matcher.start(), to: matcher.end() } : undefined;
    },
  };
}

function compileLinear(source: string): RE2JS {
  try {
    return RE2JS.compile(source);
  } catch (error) {
    throw badPattern(error instanceof Error ? error.message : String(error), error);
  }
}

function badPattern(what: string, cause?: unknown): VarveError {
  return new VarveError("BAD_REQUEST", `The pattern cannot be used: ${what}`, {
    remedy:
      "Send a regular expression in RE2 syntax (no look-around, no back-references), or mode full_text for plain words.",
    cause,
  });
}

/**
 * The pattern for the native engine, slightly wider where the two differ. Only for patterns with bounded backtracking: at
 * most one unbounded repetition of a single character, and few alternatives.
 */
function quickTest(atoms: readonly PatternAtom[], ignoresCase: boolean): RegExp | undefined {
  let unbounded = 0;
  let branches = 1;
  let bars = 0;
  for (const atom of atoms) {
    const [least, most] = parseQuantifier(atom.quantifier);
    if (atom.kind === "bar") bars += 1;
    if (differs(atom, ignoresCase)) return undefined;
    if (atom.kind === "anchor" && atom.quantifier !== "") return undefined;
    if ((atom.kind === "close" || atom.kind === "open") && atom.quantifier !== "") return undefined;
    if (most === Number.POSITIVE_INFINITY) unbounded += 1;
    else branches *= most - least + 1;
  }
  if (unbounded > 1 || branches * (bars + 1) ** 2 > branchesMax) return undefined;
  const source = atoms.map(quickAtom).join("");
  try {
    return new RegExp(source, ignoresCase ? "iu" : "u");
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Constructs for which the native engine would match fewer characters. */
function differs({ kind, text }: PatternAtom, ignoresCase: boolean): boolean {
  if (kind === "class") return /\\[sSW]/.test(text) || (ignoresCase && /\\[wWD]/.test(text));
  if (kind === "anchor") return ignoresCase && text.startsWith("\\");
  return kind === "escape" && ignoresCase && text === "W";
}

const blanks = "\\t\\n\\f\\r ";

function quickAtom({ kind, text, quantifier }: PatternAtom): string {
  const atom =
    kind === "literal"
      ? text.replace(/[\\^$.*+?()[\]{}|/]/, "\\$&")
      : kind === "any"
        ? "[^\\n]"
        : kind === "escape"
          ? text === "s"
            ? `[${blanks}]`
            : text === "S"
              ? `[^${blanks}]`
              : `\\${text}`
          : kind === "open"
            ? "(?:"
            : text;
  return atom + quantifier;
}

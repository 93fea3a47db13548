/** Finds what a source file imports. TypeScript 7 has no parser to call, and biome's layout makes lines enough. */

export interface SourceImport {
  /** Counted from 1: the line the statement begins on. */
  line: number;
  specifier: string;
}

const statement = /^(?:import|export)\b(?![^"';]*\()[^"';]*?\bfrom\s+["']([^"']+)["']/gm;
const sideEffect = /^import\s+["']([^"']+)["']/gm;
const dynamic = /\bimport\(\s*["']([^"']+)["']/g;

/** Static, side-effect and dynamic imports, re-exports, and `import("…")` types, in the order of their lines. */
export function findImports(text: string): SourceImport[] {
  const code = blankComments(text);
  const found = [statement, sideEffect, dynamic].flatMap((pattern) =>
    [...code.matchAll(pattern)].map((match) => ({ line: lineAt(code, match.index), specifier: match[1] ?? "" })),
  );
  return found.sort((a, b) => a.line - b.line);
}

/** The line of the first `export *` that passes on values; `export type *` is gone at run time and may stay. */
export function findValueStar(text: string): number | undefined {
  const code = blankComments(text);
  const match = /^export\s+\*/m.exec(code);
  return match === null ? undefined : lineAt(code, match.index);
}

/** Comments become spaces, line by line, so that positions stay what they were. */
function blankComments(text: string): string {
  const blank = (comment: string) => comment.replace(/[^\n]/g, " ");
  return text.replace(/^[ \t]*\/\*[\s\S]*?\*\//gm, blank).replace(/^[ \t]*\/\/.*$/gm, blank);
}

function lineAt(text: string, index: number): number {
  return text.slice(0, index).split("\n").length;
}

import type { SyntaxNode } from "@lezer/common";
import { clean, count, counted, fit } from "./fit.ts";
import { type Grammar, grammars, type Language, loadParser } from "./languages.ts";
import type { Subject } from "./subject.ts";

/** A parser takes a second for a megabyte; the declarations a summary has room for come long before. */
const parsedMax = 128 * 1024;
const signatureMax = 110;
const foundMax = 2_000;
const depthMax = 4;

interface Found {
  imports: string[];
  signatures: string[];
}

export function exploreCode({ text, extent }: Subject, language: Language): string {
  const start = text.slice(0, parsedMax);
  const grammar = grammars[language];
  const found: Found = { imports: [], signatures: [] };
  collect(loadParser(language).parse(start).topNode, start, grammar, found, 0);
  const shown = found.signatures.filter((signature) => grammar.isPublic(signature));
  const hidden = found.signatures.filter((signature) => !grammar.isPublic(signature));
  const parsed = text.length > parsedMax ? `; its first ${count(parsedMax)} were parsed` : "";
  const head = `${language} code, ${counted(text.split("\n").length, "line")}, ${extent}${parsed}`;
  const hasBoth = shown.length > 0 && hidden.length > 0;
  return fit(head, [
    { label: "Imports", items: [...new Set(found.imports)], weight: 0.7 },
    { label: hasBoth ? "Public" : "Declares", items: shown, separator: "; ", weight: 2 },
    { label: hasBoth ? "Internal" : "Declares", items: hidden, separator: "; ", weight: hasBoth ? 0.8 : 2 },
  ]);
}

function collect(parent: SyntaxNode, text: string, grammar: Grammar, found: Found, depth: number): void {
  for (let node = parent.firstChild; node !== null; node = node.nextSibling) {
    if (found.signatures.length + found.imports.length >= foundMax) return;
    if (grammar.imports.includes(node.name)) {
      found.imports.push(...importsOf(text.slice(node.from, node.to)));
    } else if (grammar.declarations.includes(node.name)) {
      const signature = signatureOf(node, text, grammar);
      if (signature !== "") found.signatures.push(signature);
      if (depth < depthMax) collectMembers(node, text, grammar, found, depth);
    } else if (depth < depthMax && grammar.wrappers.includes(node.name)) {
      collect(node, text, grammar, found, depth + 1);
    }
  }
}

/** The members of a class are listed behind it; what is inside a function is its own affair. */
function collectMembers(node: SyntaxNode, text: string, grammar: Grammar, found: Found, depth: number): void {
  if (!/Class|Interface|Trait|Impl|Enum|Record|Struct/.test(node.name)) return;
  for (let child = node.firstChild; child !== null; child = child.nextSibling) {
    if (grammar.wrappers.includes(child.name)) collect(child, text, grammar, found, depth + 1);
  }
}

/** Everything of a declaration before its body, on one line; with `export` and its like where they stand before it. */
function signatureOf(node: SyntaxNode, text: string, grammar: Grammar): string {
  let end = node.to;
  for (let child = node.firstChild; child !== null; child = child.nextSibling) {
    if (grammar.bodies.includes(child.name)) {
      end = child.from;
      break;
    }
  }
  const parent = node.parent;
  const isExported = parent !== null && /^(?:Export|Ambient)Declaration$/.test(parent.name);
  const from = isExported ? parent.from : node.from;
  const prefix = node.name === "TypeSpec" ? "type " : "";
  const line = clean(`${prefix}${text.slice(from, Math.min(end, from + 4 * signatureMax))}`)
    .replace(/[\s:;{=]+$/, "")
    .replace(/^@\S+ /, "");
  return line.length > signatureMax ? `${line.slice(0, signatureMax)}…` : line;
}

/** What an import brings in: the module where it stands in quotes, else the names as they are written. */
function importsOf(statement: string): string[] {
  if (/^\s*#/.test(statement)) {
    const included = /^\s*#\s*include\s*[<"]([^>"\n]+)[>"]/.exec(statement)?.[1];
    return included === undefined ? [] : [included];
  }
  const quoted = [...statement.matchAll(/["'`]([^"'`\n]{1,200})["'`]/g)].map(([, module = ""]) => module);
  if (quoted.length > 0) return quoted;
  const python = /^\s*from\s+([\w.]+)\s+import\b/.exec(statement)?.[1];
  if (python !== undefined) return [python];
  const rest = clean(statement)
    .replace(/^(?:pub |extern crate |static )*(?:import static|import|use|extern crate)\s+/, "")
    .replace(/;$/, "");
  return /[{(]/.test(rest) ? [rest] : rest.split(/\s*,\s*/);
}

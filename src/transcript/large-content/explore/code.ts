import type { SyntaxNode } from "@lezer/common";
import { type Grammar, grammars, type Language, loadParser } from "./languages.ts";
import type { ExploredText } from "./summary-format.ts";
import { formatCount, formatNumber, formatSummary, toSingleLine } from "./summary-format.ts";

/** Parsing takes a second per megabyte, and the declarations that fit a summary come much earlier. */
const parsedMax = 128 * 1024;
const signatureMax = 110;
const foundMax = 2_000;
const depthMax = 4;

interface Found {
  imports: string[];
  signatures: string[];
}

export function exploreCode({ text, extent }: ExploredText, language: Language): string {
  const start = text.slice(0, parsedMax);
  const grammar = grammars[language];
  const found: Found = { imports: [], signatures: [] };
  collect(loadParser(language).parse(start).topNode, start, grammar, found, 0);
  const shown = found.signatures.filter((signature) => grammar.isPublic(signature));
  const hidden = found.signatures.filter((signature) => !grammar.isPublic(signature));
  const parsed = text.length > parsedMax ? `; its first ${formatNumber(parsedMax)} were parsed` : "";
  const head = `${language} code, ${formatCount(text.split("\n").length, "line")}, ${extent}${parsed}`;
  const hasBoth = shown.length > 0 && hidden.length > 0;
  return formatSummary(head, [
    { label: "Imports", items: [...new Set(found.imports)], weight: 0.7 },
    { label: hasBoth ? "Public" : "Declares", items: shown, separator: "; ", weight: 2 },
    { label: hasBoth ? "Internal" : "Declares", items: hidden, separator: "; ", weight: hasBoth ? 0.8 : 2 },
  ]);
}

function collect(parent: SyntaxNode, text: string, grammar: Grammar, found: Found, depth: number): void {
  for (let node = parent.firstChild; node !== null; node = node.nextSibling) {
    if (found.signatures.length + found.imports.length >= foundMax) return;
    if (grammar.imports.includes(node.name)) {
      found.imports.push(...parseImports(text.slice(node.from, node.to)));
    } else if (grammar.declarations.includes(node.name)) {
      const signature = formatSignature(node, text, grammar);
      if (signature !== "") found.signatures.push(signature);
      if (depth < depthMax) collectMembers(node, text, grammar, found, depth);
    } else if (depth < depthMax && grammar.wrappers.includes(node.name)) {
      collect(node, text, grammar, found, depth + 1);
    }
  }
}

/** Lists the members of a class after it; the inside of functions is skipped. */
function collectMembers(node: SyntaxNode, text: string, grammar: Grammar, found: Found, depth: number): void {
  if (!/Class|Interface|Trait|Impl|Enum|Record|Struct/.test(node.name)) return;
  for (let child = node.firstChild; child !== null; child = child.nextSibling) {
    if (grammar.wrappers.includes(child.name)) collect(child, text, grammar, found, depth + 1);
  }
}

/** A declaration up to its body on one line, including a preceding `export`. */
function formatSignature(node: SyntaxNode, text: string, grammar: Grammar): string {
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
  const line = toSingleLine(`${prefix}${text.slice(from, Math.min(end, from + 4 * signatureMax))}`)
    .replace(/(?<![\s:;{=])[\s:;{=]+$/, "")
    .replace(/^@\S+ /, "");
  return line.length > signatureMax ? `${line.slice(0, signatureMax)}…` : line;
}

/** The modules of an import where they are quoted, else the imported names. */
function parseImports(statement: string): string[] {
  if (/^\s*#/.test(statement)) {
    const included = /^\s*#\s*include\s*[<"]([^>"\n]+)[>"]/.exec(statement)?.[1];
    return included === undefined ? [] : [included];
  }
  const quoted = [...statement.matchAll(/["'`]([^"'`\n]{1,200})["'`]/g)].map(([, module = ""]) => module);
  if (quoted.length > 0) return quoted;
  const python = /^\s*from\s+([\w.]+)\s+import\b/.exec(statement)?.[1];
  if (python !== undefined) return [python];
  const rest = toSingleLine(statement)
    .replace(/^(?:pub |extern crate |static )*(?:import static|import|use|extern crate)\s+/, "")
    .replace(/;$/, "");
  return /[{(]/.test(rest) ? [rest] : rest.split(",").map((name) => name.trim());
}

/**
 * Edits JSON text, with or without comments, and leaves every other byte as it is. `modify` of jsonc-parser is not used:
 * it either reformats the lines around an insertion or writes the new member without indentation.
 */
import { isDeepStrictEqual } from "node:util";
import {
  createScanner,
  findNodeAtLocation,
  type Node,
  type ParseError,
  parse,
  parseTree,
  printParseErrorCode,
} from "jsonc-parser";
import type { JsonValue } from "../../domain/index.ts";

export interface JsonEdit {
  text: string;
  /** The number of objects of the path that were created; `removeMember` removes as many again. */
  made: number;
  /** The text of the previous value. */
  replaced?: string;
}

/** Parses an object; throws a TypeError that says what is wrong with the text. */
export function parseJsonObject(text: string): Node {
  const errors: ParseError[] = [];
  const root = parseTree(text, errors, { allowTrailingComma: true });
  const [error] = errors;
  if (error !== undefined) {
    const line = text.slice(0, error.offset).split("\n").length;
    throw new TypeError(`line ${line}: ${printParseErrorCode(error.error)}`);
  }
  if (root?.type !== "object") throw new TypeError("it does not contain an object");
  return root;
}

/** Sets the member at a path. */
export function setMember(text: string, path: readonly string[], value: JsonValue): JsonEdit {
  const { object, depth } = findParent(text, path);
  const known = findNodeAtLocation(object, [path[depth] ?? ""]);
  if (known && depth === path.length - 1) {
    const replaced = text.slice(known.offset, getEnd(known));
    if (isDeepStrictEqual(parse(replaced), value)) return { text, made: 0 };
    return { text: splice(text, known.offset, getEnd(known), print(value, text, depth + 1)), made: 0, replaced };
  }
  const rest = path.slice(depth + 1);
  const nested = rest.reduceRight<JsonValue>((inner, name) => ({ [name]: inner }), value);
  const indent = detectIndent(text);
  const line = `\n${indent.repeat(depth + 1)}${JSON.stringify(path[depth])}: ${print(nested, text, depth + 1)}`;
  const last = object.children?.at(-1);
  if (last) return { text: splice(text, getEnd(last), getEnd(last), `,${line}`), made: rest.length };
  const inside = `${line}\n${indent.repeat(depth)}`;
  return { text: splice(text, object.offset + 1, getEnd(object) - 1, inside), made: rest.length };
}

/** Removes the member at a path, and as many of the objects around it as were created for it and are empty now. */
export function removeMember(text: string, path: readonly string[], made: number): string {
  const { object, depth } = findParent(text, path);
  const members = object.children ?? [];
  const index = depth === path.length - 1 ? members.findIndex((one) => readKey(one) === path.at(-1)) : -1;
  const member = members[index];
  if (!member) return text;
  const [before, after] = [members[index - 1], members[index + 1]];
  if (!before && !after && made > 0 && path.length > 1) return removeMember(text, path.slice(0, -1), made - 1);
  if (before) {
    const comma = findComma(text, getEnd(before));
    const between = text.slice(getEnd(before), comma) + text.slice(comma + 1, member.offset);
    // Comments between the two members are kept.
    return splice(text, getEnd(before), getEnd(member), between.trim() === "" ? "" : between);
  }
  if (after) return splice(text, member.offset, after.offset, "");
  return splice(text, object.offset + 1, getEnd(object) - 1, "");
}

/** Returns the text of the value at a path; undefined when there is none. */
export function readMember(text: string, path: readonly string[]): string | undefined {
  const { object, depth } = findParent(text, path);
  const node = depth === path.length - 1 ? findNodeAtLocation(object, [path.at(-1) ?? ""]) : undefined;
  return node && text.slice(node.offset, getEnd(node));
}

/** Replaces the value at a path by a text. */
export function replaceMember(text: string, path: readonly string[], value: string): string {
  const node = findNodeAtLocation(parseJsonObject(text), [...path]);
  return node ? splice(text, node.offset, getEnd(node), value) : text;
}

/** Finds the innermost object on the path, and the number of names that lead to it. */
function findParent(text: string, path: readonly string[]): { object: Node; depth: number } {
  let object = parseJsonObject(text);
  for (const [depth, name] of path.slice(0, -1).entries()) {
    const child = findNodeAtLocation(object, [name]);
    if (!child) return { object, depth };
    if (child.type !== "object") throw new TypeError(`${path.slice(0, depth + 1).join(".")} is not an object`);
    object = child;
  }
  return { object, depth: path.length - 1 };
}

function readKey(member: Node): string | undefined {
  const [key] = member.children ?? [];
  return typeof key?.value === "string" ? key.value : undefined;
}

function findComma(text: string, from: number): number {
  const scanner = createScanner(text, true);
  scanner.setPosition(from);
  do scanner.scan();
  while (scanner.getTokenLength() > 0 && text[scanner.getTokenOffset()] !== ",");
  return scanner.getTokenOffset();
}

function getEnd({ offset, length }: Node): number {
  return offset + length;
}

function splice(text: string, start: number, end: number, inserted: string): string {
  return text.slice(0, start) + inserted + text.slice(end);
}

/** Returns the indent of the first indented line. */
function detectIndent(text: string): string {
  return /\n([ \t]+)\S/.exec(text)?.[1] ?? "  ";
}

function print(value: JsonValue, text: string, depth: number): string {
  const indent = detectIndent(text);
  return JSON.stringify(value, null, indent).replaceAll("\n", `\n${indent.repeat(depth)}`);
}

/** Edits of JSON text that leave every other byte where it was: whoever wrote the file knows it again. */
import { isDeepStrictEqual } from "node:util";
import { isJsonObject, type JsonValue } from "../../domain/index.ts";

export interface Edited {
  text: string;
  /** How many of the path's objects had to be made; removing takes as many away again. */
  made: number;
  /** The text of the value that stood there before. */
  replaced?: string;
}

interface Member {
  key: string;
  start: number;
  valueStart: number;
  end: number;
}

interface Span {
  /** Where the brace opens, and behind where it closes. */
  start: number;
  end: number;
  members: Member[];
}

/** Sets the member at a path. The text must be valid JSON with an object at its root. */
export function setMember(text: string, path: readonly string[], value: JsonValue): Edited {
  const { span, depth } = walk(text, path);
  const key = path[depth] ?? "";
  const known = span.members.find((member) => member.key === key);
  if (known && depth === path.length - 1) {
    const replaced = text.slice(known.valueStart, known.end);
    if (isDeepStrictEqual(JSON.parse(replaced), value)) return { text, made: 0 };
    const shown = print(value, text, depth + 1);
    return { text: text.slice(0, known.valueStart) + shown + text.slice(known.end), made: 0, replaced };
  }
  const rest = path.slice(depth + 1);
  const nested = rest.reduceRight<JsonValue>((inner, name) => ({ [name]: inner }), value);
  const line = `\n${indentOf(text).repeat(depth + 1)}${JSON.stringify(key)}: ${print(nested, text, depth + 1)}`;
  const last = span.members.at(-1);
  const added = last
    ? `${text.slice(0, last.end)},${line}${text.slice(last.end)}`
    : `${text.slice(0, span.start + 1)}${line}\n${indentOf(text).repeat(depth)}${text.slice(span.end - 1)}`;
  return { text: added, made: rest.length };
}

/** Takes the member at a path away, and as many of the objects around it as were made for it and are empty now. */
export function removeMember(text: string, path: readonly string[], made: number): string {
  const { span, depth } = walk(text, path);
  const key = path.at(-1);
  const index = depth === path.length - 1 ? span.members.findIndex((member) => member.key === key) : -1;
  const member = span.members[index];
  if (!member) return text;
  const [before, after] = [span.members[index - 1], span.members[index + 1]];
  if (!before && !after && made > 0 && path.length > 1) return removeMember(text, path.slice(0, -1), made - 1);
  if (before) return text.slice(0, before.end) + text.slice(member.end);
  if (after) return text.slice(0, member.start) + text.slice(after.start);
  return text.slice(0, span.start + 1) + text.slice(span.end - 1);
}

/** The text of the value at a path; undefined where there is none. */
export function memberText(text: string, path: readonly string[]): string | undefined {
  const { span, depth } = walk(text, path);
  if (depth !== path.length - 1) return undefined;
  const member = span.members.find((one) => one.key === path.at(-1));
  return member && text.slice(member.valueStart, member.end);
}

export function replaceMember(text: string, path: readonly string[], valueText: string): string {
  const { span } = walk(text, path);
  const member = span.members.find((one) => one.key === path.at(-1));
  return member ? text.slice(0, member.valueStart) + valueText + text.slice(member.end) : text;
}

/** The innermost object on the way to a path's last name, and how many names lead to it. */
function walk(text: string, path: readonly string[]): { span: Span; depth: number } {
  let span = objectAt(text, skipSpace(text, 0));
  for (const [depth, name] of path.slice(0, -1).entries()) {
    const member = span.members.find((one) => one.key === name);
    if (!member) return { span, depth };
    if (!isJsonObject(JSON.parse(text.slice(member.valueStart, member.end)) as JsonValue)) {
      throw new TypeError(`${path.slice(0, depth + 1).join(".")} is not an object`);
    }
    span = objectAt(text, member.valueStart);
  }
  return { span, depth: path.length - 1 };
}

function objectAt(text: string, start: number): Span {
  const members: Member[] = [];
  let at = skipSpace(text, start + 1);
  while (text[at] !== "}") {
    const keyEnd = endOfValue(text, at);
    const valueStart = skipSpace(text, skipSpace(text, keyEnd) + 1);
    const end = endOfValue(text, valueStart);
    members.push({ key: JSON.parse(text.slice(at, keyEnd)) as string, start: at, valueStart, end });
    at = skipSpace(text, end);
    if (text[at] === ",") at = skipSpace(text, at + 1);
  }
  return { start, end: at + 1, members };
}

/** Behind the value that begins here; the text is known to be valid. */
function endOfValue(text: string, start: number): number {
  if (text[start] === '"') return endOfString(text, start);
  if (text[start] !== "{" && text[start] !== "[") {
    const length = /^[^\s,\]}]+/.exec(text.slice(start, start + 400))?.[0].length ?? 1;
    return start + length;
  }
  let depth = 0;
  for (let at = start; at < text.length; at += 1) {
    const character = text[at] ?? "";
    if (character === '"') at = endOfString(text, at) - 1;
    else if ("{[".includes(character)) depth += 1;
    else if ("}]".includes(character)) {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
  return text.length;
}

function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (text[at] !== '"') at += text[at] === "\\" ? 2 : 1;
  return at + 1;
}

function skipSpace(text: string, from: number): number {
  let at = from;
  while (/\s/.test(text[at] ?? "x")) at += 1;
  return at;
}

/** The file's own indent, from the first line that has one. */
function indentOf(text: string): string {
  return /\n([ \t]+)\S/.exec(text)?.[1] ?? "  ";
}

function print(value: JsonValue, text: string, depth: number): string {
  const indent = indentOf(text);
  return JSON.stringify(value, null, indent).replaceAll("\n", `\n${indent.repeat(depth)}`);
}

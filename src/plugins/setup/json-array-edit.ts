/** Edits arrays in JSON text, and leaves every other byte as it is. */
import { findNodeAtLocation, type Node } from "jsonc-parser";
import { parseJsonObject } from "./json-edit.ts";

/** Returns the strings of an array; undefined when there is none at the path. */
export function readStrings(text: string, path: readonly string[]): string[] | undefined {
  const array = findArray(text, path);
  return array?.children?.flatMap(({ value }) => (typeof value === "string" ? [value] : []));
}

/** Adds a string at the end of an array, in the form of the element before it. */
export function appendString(text: string, path: readonly string[], value: string): string {
  const array = findArray(text, path);
  if (array === undefined) throw new TypeError(`${path.join(".")} is not an array`);
  const last = array.children?.at(-1);
  const quoted = JSON.stringify(value);
  if (last === undefined) return insert(text, array.offset + 1, quoted);
  const before = array.children?.at(-2);
  const from = before === undefined ? array.offset + 1 : text.indexOf(",", getEnd(before)) + 1;
  const space = text.slice(from, last.offset);
  return insert(text, getEnd(last), `,${space.trim() === "" ? space : " "}${quoted}`);
}

/** Removes a string from an array; the array stays, also when it is empty. */
export function removeString(text: string, path: readonly string[], value: string): string {
  const children = findArray(text, path)?.children ?? [];
  const index = children.findIndex((child) => child.value === value);
  const found = children[index];
  if (found === undefined) return text;
  const [before, after] = [children[index - 1], children[index + 1]];
  if (before !== undefined) return text.slice(0, getEnd(before)) + text.slice(getEnd(found));
  if (after !== undefined) return text.slice(0, found.offset) + text.slice(after.offset);
  return text.slice(0, found.offset) + text.slice(getEnd(found));
}

function findArray(text: string, path: readonly string[]): Node | undefined {
  const node = findNodeAtLocation(parseJsonObject(text), [...path]);
  if (node !== undefined && node.type !== "array") throw new TypeError(`${path.join(".")} is not an array`);
  return node;
}

function insert(text: string, at: number, inserted: string): string {
  return text.slice(0, at) + inserted + text.slice(at);
}

function getEnd({ offset, length }: Node): number {
  return offset + length;
}

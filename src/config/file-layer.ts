import { readFileSync } from "node:fs";
import { type Document, isMap, isPair, isScalar, isSeq, LineCounter, type Node, parseDocument } from "yaml";
import { VarveError } from "../domain/index.ts";
import type { ConfigFault } from "./faults.ts";
import { type ConfigLayer, dropUnset } from "./layer.ts";

const sizeMax = 1024 * 1024;

/** The text of the settings file; `undefined` when it does not exist, which is the same as an empty file. */
export function readConfigFile(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    const reason = error instanceof Error ? error.message : String(error);
    throw new VarveError("BAD_CONFIG", `The settings file ${path} cannot be read: ${reason}`, {
      remedy: "Make it a file that this user can read, or remove it.",
      cause: error,
    });
  }
}

/** Parses the settings in the text of a file. */
export function parseFileLayer(path: string, text: string): ConfigLayer {
  const lines = new LineCounter();
  const document = parseDocument(text.length > sizeMax ? "" : text, { lineCounter: lines, prettyErrors: false });
  const at = (offset: number) => ({ kind: "file", path, line: lines.linePos(offset).line || 1 }) as const;
  // The parser only warns about an unknown tag, but the value would not be what the author meant.
  const faults: ConfigFault[] = [...document.errors, ...document.warnings].map((fault) => ({
    source: at(fault.pos[0]),
    column: lines.linePos(fault.pos[0]).col || 1,
    message: `invalid YAML: ${fault.message}`,
  }));
  if (text.length > sizeMax) {
    faults.push({
      source: at(0),
      message: `the file is longer than ${sizeMax} characters, which is too large for settings`,
    });
  }
  return {
    values: faults.length === 0 ? readTree(document, (message) => faults.push({ source: at(0), message })) : {},
    faults,
    warnings: [],
    findSource: (steps) => at(findOffset(document, steps)),
  };
}

function readTree(document: Document.Parsed, report: (message: string) => void): Record<string, unknown> {
  const { contents } = document;
  if (contents === null || (isScalar(contents) && contents.value === null)) return {};
  if (!isMap(contents)) {
    report("the file must contain settings as `name: value` lines");
    return {};
  }
  try {
    return dropUnset(document.toJS());
  } catch (error) {
    report(`the aliases cannot be resolved: ${error instanceof Error ? error.message : String(error)}`);
    return {};
  }
}

/** The position of a path: the key of its deepest existing step. */
function findOffset(document: Document.Parsed, path: readonly PropertyKey[]): number {
  let node: unknown = document.contents;
  let offset = 0;
  for (const step of path) {
    const child = findChild(node, step);
    if (child === undefined) break;
    offset = child.offset ?? offset;
    node = child.node;
  }
  return offset;
}

function findChild(node: unknown, step: PropertyKey): { node: unknown; offset: number | undefined } | undefined {
  if (isMap(node)) {
    const pair = node.items.find(({ key }) => String(isScalar(key) ? key.value : key) === String(step));
    return isPair(pair) ? { node: pair.value, offset: getStart(pair.key) } : undefined;
  }
  if (!isSeq(node)) return undefined;
  const item = node.items[Number(step)];
  return item === undefined ? undefined : { node: item, offset: getStart(item) };
}

function getStart(node: unknown): number | undefined {
  return (node as Node | null)?.range?.[0];
}

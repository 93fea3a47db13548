import { readFileSync } from "node:fs";
import { type Document, isMap, isPair, isScalar, isSeq, LineCounter, type Node, parseDocument } from "yaml";
import { VarveError } from "../domain/index.ts";
import type { ConfigFault } from "./faults.ts";
import { dropUnset, type Layer } from "./layer.ts";

const sizeMax = 1024 * 1024;

/** The text of the settings file; `undefined` when there is none, which is as good as an empty one. */
export function readConfigFile(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    const reason = error instanceof Error ? error.message : String(error);
    throw new VarveError("BAD_CONFIG", `The settings file ${path} cannot be read: ${reason}`, {
      remedy: "Make it a file that this user may read, or remove it.",
      cause: error,
    });
  }
}

/** The settings in the text of a file. */
export function fileLayer(path: string, text: string): Layer {
  const lines = new LineCounter();
  const document = parseDocument(text.length > sizeMax ? "" : text, { lineCounter: lines, prettyErrors: false });
  const at = (offset: number) => ({ kind: "file", path, line: lines.linePos(offset).line || 1 }) as const;
  // A tag that nobody knows is only a warning to the parser, but its value would not be what its writer means.
  const faults: ConfigFault[] = [...document.errors, ...document.warnings].map((fault) => ({
    source: at(fault.pos[0]),
    column: lines.linePos(fault.pos[0]).col || 1,
    message: `this is not YAML: ${fault.message}`,
  }));
  if (text.length > sizeMax) {
    faults.push({ source: at(0), message: `the file is larger than ${sizeMax} characters, which no settings are` });
  }
  return {
    values: faults.length === 0 ? readTree(document, (message) => faults.push({ source: at(0), message })) : {},
    faults,
    sourceOf: (steps) => at(offsetOf(document, steps)),
  };
}

function readTree(document: Document.Parsed, report: (message: string) => void): Record<string, unknown> {
  const { contents } = document;
  if (contents === null || (isScalar(contents) && contents.value === null)) return {};
  if (!isMap(contents)) {
    report("the file must hold settings as `name: value` lines");
    return {};
  }
  try {
    return dropUnset(document.toJS());
  } catch (error) {
    report(`the aliases cannot be resolved: ${error instanceof Error ? error.message : String(error)}`);
    return {};
  }
}

/** Where a path is written: the key of its last step that is there at all. */
function offsetOf(document: Document.Parsed, path: readonly PropertyKey[]): number {
  let node: unknown = document.contents;
  let offset = 0;
  for (const step of path) {
    const child = childOf(node, step);
    if (child === undefined) break;
    offset = child.offset ?? offset;
    node = child.node;
  }
  return offset;
}

function childOf(node: unknown, step: PropertyKey): { node: unknown; offset: number | undefined } | undefined {
  if (isMap(node)) {
    const pair = node.items.find(({ key }) => String(isScalar(key) ? key.value : key) === String(step));
    return isPair(pair) ? { node: pair.value, offset: startOf(pair.key) } : undefined;
  }
  if (!isSeq(node)) return undefined;
  const item = node.items[Number(step)];
  return item === undefined ? undefined : { node: item, offset: startOf(item) };
}

function startOf(node: unknown): number | undefined {
  return (node as Node | null)?.range?.[0];
}

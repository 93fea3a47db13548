import { type Document, isCollection, isMap, isNode, isScalar, parseDocument, type YAMLMap } from "yaml";
import { VarveError } from "../domain/index.ts";
import { parseValue } from "./env-layer.ts";
import { printPath } from "./explain.ts";
import { configError } from "./faults.ts";
import { readConfigFile } from "./file-layer.ts";
import { checkConfigText, configPath } from "./load.ts";
import { movedSettings } from "./moved-settings.ts";
import { findContainingSetting, findNearestName, findSchema, settings } from "./settings.ts";
import { writeAtomically } from "./write-atomically.ts";

const header = " Varve settings. `varve config list` shows all of them.";

/**
 * Sets one setting in the file from text. Comments and order are preserved. The result is validated first: an invalid
 * file is never written. `key` may lead into a mapping, such as `session.resetByType.direct.mode`. With `isCheck`
 * nothing is written in any case.
 */
export function setConfigValue(home: string, key: string, text: string, { isCheck = false } = {}): void {
  const path = parseKey(movedSettings.find(({ from }) => from === key)?.to ?? key);
  const schema = findSchema(path);
  if (schema === undefined) throw unknownKeyError(key);
  const value = parseValue(schema, text);
  const edit = (document: Document): void => {
    if (document.contents === null) adoptComment(document);
    openSections(document, path);
    replaceValue(document, path, value);
  };
  editFile(home, edit, isCheck);
}

/** Removes one setting from the file, so that its default applies again. Returns whether it was set. */
export function unsetConfigValue(home: string, key: string): boolean {
  const path = movedSettings.some(({ from }) => from === key) ? key.split(".") : parseKey(key);
  if (readConfigFile(configPath(home)) === undefined) return false;
  let wasThere = false;
  editFile(home, (document) => {
    wasThere = document.hasIn(path);
    if (wasThere) document.deleteIn(path);
    for (let length = path.length - 1; wasThere && length > 0; length -= 1) {
      const section = document.getIn(path.slice(0, length));
      if (!isMap(section) || section.items.length > 0 || section.comment) break;
      document.deleteIn(path.slice(0, length));
    }
  });
  return wasThere;
}

function parseKey(key: string): string[] {
  const path = key.split(".");
  if (findContainingSetting(path) !== undefined) return path;
  const inside = settings.filter((setting) => setting.key.startsWith(`${key}.`)).map((setting) => setting.key);
  if (inside.length === 0) throw unknownKeyError(key);
  throw new VarveError("BAD_CONFIG", `${key} is a group of settings, not a setting.`, {
    remedy: `Use one of ${inside.join(", ")}.`,
  });
}

function unknownKeyError(key: string): VarveError {
  const keys = settings.map((setting) => setting.key);
  const sameName = settings.find(({ path }) => path.at(-1) === key)?.key;
  const meant = findNearestName(key, keys) ?? sameName;
  return new VarveError("BAD_CONFIG", `${key} is not a setting.`, {
    remedy: meant === undefined ? "`varve config list` shows all settings." : `Did you mean ${meant}?`,
  });
}

function editFile(home: string, edit: (document: Document) => void, isCheck = false): void {
  const path = configPath(home);
  const before = readConfigFile(path);
  const document = parseDocument(before ?? "");
  if (before === undefined) document.commentBefore = header;
  // A file that cannot be parsed or is not a mapping cannot be edited.
  const faults = document.errors.length > 0 || !isEditable(document) ? checkConfigText(path, before ?? "") : [];
  if (faults.length > 0) throw configError(faults, `Correct ${path} by hand first.`);
  const after = applyEdit(document, edit, path);
  const faultsAfter = checkConfigText(path, after);
  if (faultsAfter.length > 0) throw configError(faultsAfter, `Nothing was written; ${path} is unchanged.`);
  if (after !== before && !isCheck) writeAtomically(path, after);
}

function isEditable({ contents }: Document): boolean {
  return contents === null || isMap(contents) || (isScalar(contents) && contents.value === null);
}

function applyEdit(document: Document, edit: (document: Document) => void, path: string): string {
  try {
    edit(document);
    return document.toString({ lineWidth: 0 });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new VarveError("BAD_CONFIG", `${path} cannot be edited automatically: ${reason}`, {
      remedy: `Nothing was written. Edit ${path} by hand.`,
      cause: error,
    });
  }
}

/** In a file that contains only comments they follow the contents; moves them before the new setting. */
function adoptComment(document: Document): void {
  document.commentBefore = [document.commentBefore, document.comment].filter(Boolean).join("\n") || null;
  document.comment = null;
}

/** Turns an empty section into a mapping, so that a setting can be added. */
function openSections(document: Document, path: readonly string[]): void {
  if (isScalar(document.contents)) document.contents = null;
  document.contents ??= document.createNode({}) as YAMLMap;
  for (let length = 1; length < path.length; length += 1) {
    const section = document.getIn(path.slice(0, length), true);
    if (isCollection(section)) continue;
    if (section !== undefined && section !== null && !(isScalar(section) && section.value === null)) {
      throw new Error(`${printPath(path.slice(0, length))} is not a mapping`);
    }
    const opened = document.createNode({});
    if (isNode(section)) opened.commentBefore = [section.commentBefore, section.comment].filter(Boolean).join("\n");
    document.setIn(path.slice(0, length), opened);
  }
}

function replaceValue(document: Document, path: readonly string[], value: unknown): void {
  const before = document.getIn(path, true);
  const node = document.createNode(value);
  if (isNode(before)) {
    node.comment = before.comment;
    node.commentBefore = before.commentBefore;
    node.spaceBefore = before.spaceBefore;
  }
  document.setIn(path, node);
}

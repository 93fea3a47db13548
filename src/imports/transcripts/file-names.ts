import { existsSync } from "node:fs";
import { basename, dirname, sep } from "node:path";
import type { Store } from "../../store/index.ts";
import { getBaseName } from "./record.ts";

/** How many folders a name may include before files of the same name share one. */
const foldersMax = 32;

/**
 * The name of the session of a file whose records do not name one: the file's name, with as many of its folders as
 * needed to tell it from other files. A file keeps its name; one that was moved is recognised by its old path being gone.
 */
export async function nameFileSession(
  store: Store,
  agent: string,
  file: string,
  files: readonly string[],
): Promise<string> {
  const others = await store.db
    .selectFrom("import_files")
    .select(["path", "state"])
    .where("agent", "=", agent)
    .where("path", "like", `%${sep === "\\" ? "\\\\" : sep}${escapeLike(basename(file))}`)
    .execute();
  const own = others.find(({ path }) => path === file);
  if (own) return readName(own);
  const taken = new Set(others.filter(({ path }) => existsSync(path)).map(readName));
  // Of several files with the same name that are imported together, none is called by that name alone.
  if (files.some((other) => other !== file && basename(other) === basename(file))) taken.add(getBaseName(file));
  let name = getBaseName(file);
  for (let folder = dirname(file), count = 0; taken.has(name) && count < foldersMax; count += 1) {
    if (dirname(folder) === folder) break;
    name = `${basename(folder)}-${name}`;
    folder = dirname(folder);
  }
  return name;
}

function escapeLike(text: string): string {
  // A wildcard in a file's name only makes the search wider: the names are compared afterwards.
  return text.replace(/[%\\]/g, "_");
}

/** Files that were imported before names were stored are called by their file names. */
function readName({ path, state }: { path: string; state: string | null }): string {
  const stored = state === null ? undefined : (JSON.parse(state) as { name?: unknown }).name;
  return typeof stored === "string" ? stored : getBaseName(path);
}

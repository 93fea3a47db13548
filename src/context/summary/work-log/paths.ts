import { addFileChange, type FileLine } from "./work-log.ts";

/** Joins the lines of a file that is named by its full path in one place and by a relative one in another. */
export function unifyPaths(files: readonly FileLine[]): FileLine[] {
  const full = files.filter(({ path }) => path.startsWith("/"));
  if (full.length === 0 || full.length === files.length) return [...files];
  const byEnd = new Map<string, string>();
  for (const { path } of full) {
    // Every end of the path that starts at a folder.
    for (let at = path.indexOf("/", 1); at !== -1; at = path.indexOf("/", at + 1)) byEnd.set(path.slice(at + 1), path);
  }
  const unified = new Map<string, FileLine>();
  for (const file of files) {
    const path = file.path.includes("/") ? (byEnd.get(file.path.replace(/^\.\//, "")) ?? file.path) : file.path;
    addFileChange(unified, { ...file, path });
  }
  return [...unified.values()];
}

const rootDepthMin = 2;

/** The folder that most full paths are in; undefined when naming it once would save nothing. */
export function findRoot(paths: readonly string[]): string | undefined {
  const full = paths.filter((path) => path.startsWith("/"));
  if (full.length < 2) return undefined;
  const counts = new Map<string, number>();
  for (const path of full) {
    for (let at = path.indexOf("/", 1); at !== -1; at = path.indexOf("/", at + 1)) {
      const folder = path.slice(0, at);
      counts.set(folder, (counts.get(folder) ?? 0) + 1);
    }
  }
  let best: string | undefined;
  let bestSaved = 0;
  for (const [folder, count] of counts) {
    const depth = folder.split("/").length - 1;
    // A parent folder stays with each name, so that a path remains unmistakable.
    const saved = (count - 1) * folder.length;
    if (depth < rootDepthMin || count < 0.6 * full.length || saved <= bestSaved) continue;
    const keepsParent = full.every(
      (path) => !path.startsWith(`${folder}/`) || path.slice(folder.length + 1).includes("/"),
    );
    if (!keepsParent && depth > 3) continue;
    best = folder;
    bestSaved = saved;
  }
  return best;
}

/** The child as one file: loading it is most of the cost of a kill, and hundreds of small files load slowly. */
import { existsSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

const prefix = "crash-child-";
const oldMs = 3_600_000;
const root = fileURLToPath(new URL("../..", import.meta.url));

/** Writes the bundle inside the project, where its packages are found, and gives the path of the program. */
export async function bundleChild(): Promise<string> {
  const cache = join(root, ".cache");
  removeOld(cache);
  const folder = join(cache, `${prefix}${process.pid}`);
  const bundle = await rolldown({
    cwd: root,
    input: {
      child: "test/crash/child.ts",
      worker: "src/store/sqlite/worker.ts",
      "summary-worker": "src/context/summary/summary-worker.ts",
    },
    platform: "node",
    external: ["better-sqlite3", "pg", "pino", "chokidar", "jsonc-parser", "rolldown"],
    logLevel: "silent",
  });
  await bundle.write({ dir: folder, format: "esm", entryFileNames: "[name].js", chunkFileNames: "[name]-[hash].js" });
  await bundle.close();
  return join(folder, "child.js");
}

/** Test processes are often killed themselves, so what they leave is removed by a later one. */
function removeOld(cache: string): void {
  if (!existsSync(cache)) return;
  for (const name of readdirSync(cache).filter((one) => one.startsWith(prefix))) {
    const path = join(cache, name);
    if (Date.now() - statSync(path).mtimeMs > oldMs) rmSync(path, { recursive: true, force: true });
  }
}

import { existsSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";

/** The package's own description: one folder up from the sources and the library, two from the bundled program. */
const manifest = ["../package.json", "../../package.json"]
  .map((path) => new URL(path, import.meta.url))
  .find((url) => existsSync(url));

export const version: string =
  manifest === undefined ? "unknown" : (JSON.parse(readFileSync(manifest, "utf8")) as { version: string }).version;

/** The folder of the package, where the program is. */
export const packageFolder: string = manifest === undefined ? process.cwd() : dirname(fileURLToPath(manifest));

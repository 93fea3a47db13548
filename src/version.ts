import { existsSync, readFileSync } from "node:fs";

/** The package's own description: one folder up from the sources and the library, two from the bundled program. */
const manifest = ["../package.json", "../../package.json"]
  .map((path) => new URL(path, import.meta.url))
  .find((url) => existsSync(url));

export const version: string =
  manifest === undefined ? "unknown" : (JSON.parse(readFileSync(manifest, "utf8")) as { version: string }).version;

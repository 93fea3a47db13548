/** Builds the console into `dist/console/`, with a brotli and a gzip file next to every file that is sent. */
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { build } from "vite";

await build({ configFile: join(import.meta.dirname, "vite.config.ts"), logLevel: "warn" });
const assets = join(import.meta.dirname, "..", "dist", "console", "assets");
for (const name of readdirSync(assets)) {
  const file = join(assets, name);
  if (!/\.(?:js|css|svg)$/.test(name) || statSync(file).size < 500) continue;
  const bytes = readFileSync(file);
  const quality = { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY };
  writeFileSync(`${file}.br`, brotliCompressSync(bytes, { params: quality }));
  writeFileSync(`${file}.gz`, gzipSync(bytes, { level: 9 }));
}

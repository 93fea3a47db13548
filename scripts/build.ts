/**
 * Builds the library with plain `tsc` into `dist/`, from a clean folder so that no deleted file lives on, and the
 * command as a bundle in `dist/program/`: loading a few files instead of hundreds is most of a command's start. The
 * console goes into `dist/console/`.
 */
import { execFileSync } from "node:child_process";
import { rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

/** Messages of the schema library in fifty languages: a third of what the gateway would load, and never shown. */
const withoutLocales = {
  name: "without-locales",
  resolveId: (source: string, importer?: string) =>
    source.endsWith("/locales/index.js") && importer?.includes("/zod/") ? "\0no-locales" : undefined,
  load: (id: string) => (id === "\0no-locales" ? "export {}" : undefined),
};

const root = fileURLToPath(new URL("..", import.meta.url));
rmSync(`${root}/dist`, { recursive: true, force: true });
execFileSync(process.execPath, [`${root}/node_modules/typescript/bin/tsc`, "-p", "tsconfig.build.json"], {
  cwd: root,
  stdio: "inherit",
});
/**
 * What reads the settings: their room, YAML, and zod without its translations, which only the gateway needs. Left to
 * itself, the bundler parts zod from the settings and leaves its own helpers with them, so that each waits for the other.
 * The time zone is for everything that prints a time.
 */
const settingsChunk =
  /dist[\\/]config[\\/](?!local-time-zone)|node_modules[\\/]yaml[\\/]|node_modules[\\/]zod[\\/](?!.*(?:locales[\\/](?!en)|index\.js|external\.js))/;
/** The words of languages: their patterns cannot be written in ASCII, which would cost a second byte for the whole engine. */
const languagesChunk = /dist[\\/]memory[\\/]language[\\/]/;
const bundle = await rolldown({
  cwd: root,
  input: {
    main: "dist/cli/main.js",
    hook: "dist/cli/hook/main.js",
    worker: "dist/store/sqlite/worker.js",
    "embed-worker": "dist/models/embed/embed-worker.js",
    "match-worker": "dist/context/history/grep/match-worker.js",
    "summary-worker": "dist/context/summary/summary-worker.js",
    "attack-worker": "dist/benchmarks/attack/attack-worker.js",
    "serve-worker": "dist/benchmarks/scale/serve-worker.js",
  },
  platform: "node",
  // The main file of jsonc-parser loads its parts in a way that cannot be bundled; its ES module can.
  resolve: { alias: { "jsonc-parser": "jsonc-parser/lib/esm/main.js" } },
  // Nobody imports the command, so a chunk may show more than its entry does.
  preserveEntrySignatures: false,
  // Native code, and packages that start threads from files of their own, stay what they are.
  // Models' packages are optional peers that the user installs.
  external: [
    "better-sqlite3",
    "pg",
    "pino",
    "chokidar",
    "onnxruntime-node",
    "ai",
    /^@ai-sdk\//,
    /^@lezer\//,
    /^csv-parse/,
  ],
  logLevel: "warn",
  plugins: [withoutLocales],
});
await bundle.write({
  dir: `${root}/dist/program`,
  format: "esm",
  // The engine keeps the text of loaded files: a byte per character when it is ASCII, otherwise two.
  charset: "ascii",
  comments: { jsdoc: false },
  entryFileNames: "[name].js",
  chunkFileNames: "[name]-[hash].js",
  codeSplitting: {
    includeDependenciesRecursively: false,
    groups: [
      { name: "settings", test: settingsChunk },
      { name: "languages", test: languagesChunk },
    ],
  },
});
await bundle.close();
execFileSync(process.execPath, [`${root}/console/build.ts`], { cwd: root, stdio: "inherit" });

/**
 * Builds the library with plain `tsc` into `dist/`, from a clean folder so that no deleted file lives on, and the
 * command as a bundle in `dist/program/`: loading a few files instead of hundreds is most of a command's start.
 */
import { execFileSync } from "node:child_process";
import { rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

const root = fileURLToPath(new URL("..", import.meta.url));
rmSync(`${root}/dist`, { recursive: true, force: true });
execFileSync(process.execPath, [`${root}/node_modules/typescript/bin/tsc`, "-p", "tsconfig.build.json"], {
  cwd: root,
  stdio: "inherit",
});
const bundle = await rolldown({
  cwd: root,
  input: {
    main: "dist/cli/main.js",
    worker: "dist/store/sqlite/worker.js",
    "embed-worker": "dist/models/embed/embed-worker.js",
  },
  platform: "node",
  // Native code, and packages that start threads from files of their own, stay what they are.
  external: ["better-sqlite3", "pg", "pino", "chokidar", "onnxruntime-node"],
  logLevel: "warn",
});
await bundle.write({
  dir: `${root}/dist/program`,
  format: "esm",
  entryFileNames: "[name].js",
  chunkFileNames: "[name]-[hash].js",
});
await bundle.close();

import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));
const readme = readFileSync(join(root, "README.md"), "utf8");

test("the program in the README prints what the README says", async () => {
  const [, program, output] = /```ts\n([\s\S]+?)```\s+```\n([\s\S]+?)```/.exec(readme) ?? [];
  const folder = mkdtempSync(join(tmpdir(), "varve-readme-"));
  const file = join(folder, "program.mjs");
  writeFileSync(file, (program ?? "").replace('"varve"', JSON.stringify(join(root, "dist/index.js"))));
  const printed = await new Promise<string>((resolve, reject) => {
    execFile(process.execPath, [file], { env: { ...process.env, VARVE_HOME: folder } }, (error, stdout) =>
      error ? reject(error) : resolve(stdout),
    );
  });
  expect(printed).toBe(output);
  rmSync(folder, { recursive: true });
});

test("the README offers exactly the two commands, and CI runs the second", () => {
  expect(readme).toContain("npm ci && npm start");
  expect(readme).toContain("npm ci && npm test");
  expect(readFileSync(join(root, ".ci/run"), "utf8")).toContain("npm ci && npm test");
});

import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { loadMiniLm } from "./minilm-model.ts";

const folder = mkdtempSync(join(tmpdir(), "varve-minilm-"));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test("the model is converted once, cached, and rebuilt when the cached file is damaged", () => {
  const first = loadMiniLm(folder);
  const [file] = readdirSync(folder);
  expect(readdirSync(folder)).toHaveLength(1);
  writeFileSync(join(folder, file!), "damaged");
  const again = loadMiniLm(folder);
  expect(Buffer.compare(again.model, first.model)).toBe(0);
  expect(Buffer.compare(loadMiniLm(folder).model, first.model)).toBe(0);
});

import { createWriteStream, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import { afterEach, beforeEach, expect, it } from "vitest";
import { readLines } from "./dump.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "varve-dump-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function write(pieces: Iterable<string>): Promise<string> {
  const file = join(folder, "dump.gz");
  await pipeline(pieces, createGzip(), createWriteStream(file));
  return file;
}

it("splits lines, also those that are longer than a piece of the file", async () => {
  const long = "x".repeat(500_000);
  const lines: string[] = [];
  for await (const line of readLines(await write([`a\n${long}\n`, "\u2028b\n", "c"]))) lines.push(line);
  expect(lines).toEqual(["a", long, "\u2028b", "c"]);
});

it("refuses a line without an end before it is in memory", async () => {
  function* endless(): Generator<string> {
    for (let piece = 0; piece < 400; piece += 1) yield "x".repeat(100_000);
  }
  const read = async (): Promise<void> => {
    for await (const _ of readLines(await write(endless()), 1_000_000));
  };
  await expect(read()).rejects.toMatchObject({ code: "BAD_FILE", message: expect.stringContaining("1000000") });
});

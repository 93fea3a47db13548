import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type CorpusFolder, createNotesFolder, includeDefault, listFiles } from "./folders.ts";
import { readCorpus } from "./read.ts";

const base = mkdtempSync(join(tmpdir(), "varve-read-"));
const workspace = join(base, "workspace");
const docs: CorpusFolder = { agent: "main", name: "docs", root: join(base, "docs"), include: includeDefault };
const folders = [createNotesFolder("main", workspace), docs];

beforeAll(() => {
  for (const folder of ["workspace/memory/deep", "workspace/src", "docs/.git", "docs/node_modules/x"]) {
    mkdirSync(join(base, folder), { recursive: true });
  }
  const write = (path: string, text: string) => writeFileSync(join(base, path), text);
  write("secret.md", "secret");
  write("workspace/MEMORY.md", "one\ntwo\r\nthree\n");
  write("workspace/memory/deep/a.md", "a");
  write("workspace/src/code.md", "not a note");
  write("docs/guide.md", "guide");
  write("docs/data.bin", "data");
  write("docs/.git/hidden.md", "hidden");
  write("docs/node_modules/x/readme.md", "installed");
  symlinkSync(join(base, "secret.md"), join(base, "docs/link.md"));
  symlinkSync(base, join(base, "docs/up"));
  symlinkSync(join(base, "docs/guide.md"), join(base, "docs/alias.md"));
});
afterAll(() => rmSync(base, { recursive: true, force: true }));

describe("the files of a folder", () => {
  it("are those that match the globs, without hidden, installed and linked ones", async () => {
    const [notes, others] = await Promise.all(folders.map((folder) => listFiles(folder)));
    expect(notes?.files.map((file) => file.relativePath)).toEqual(["MEMORY.md", "memory/deep/a.md"]);
    expect(others?.files.map((file) => file.relativePath)).toEqual(["guide.md"]);
    expect(others?.notes.join("\n")).toContain("docs/link.md is a symbolic link and is not followed");
  });

  it("are unknown, not removed, when the folder cannot be read", async () => {
    const listing = await listFiles({ ...docs, root: join(base, "nowhere") });
    expect(listing).toMatchObject({ files: [], whole: false, notes: [expect.stringContaining("ENOENT")] });
  });
});

describe("reading the corpus", () => {
  it.each([
    ["MEMORY.md", {}, "one\ntwo\nthree", 1, 3],
    ["./MEMORY.md", { from: 2 }, "two\nthree", 2, 3],
    ["MEMORY.md", { from: 2, lines: 1 }, "two", 2, 2],
    ["MEMORY.md#L2-L3", {}, "two\nthree", 2, 3],
    ["MEMORY.md#L2", {}, "two", 2, 2],
    ["MEMORY.md#L1-L1.2", {}, "one", 1, 1],
    ["MEMORY.md", { lines: 99 }, "one\ntwo\nthree", 1, 3],
    ["memory/deep/a.md", {}, "a", 1, 1],
    ["docs/guide.md", {}, "guide", 1, 1],
    ["docs/alias.md", {}, "guide", 1, 1],
    [join(workspace, "MEMORY.md"), { lines: 1 }, "one", 1, 1],
  ])("takes %s %j", async (path, request, text, startLine, endLine) => {
    expect(await readCorpus(folders, path, request)).toMatchObject({ text, startLine, endLine });
  });

  it.each([
    ["../secret.md", "REFUSED"],
    ["docs/../../secret.md", "REFUSED"],
    ["memory/../../secret.md", "REFUSED"],
    [join(base, "secret.md"), "NOT_FOUND"],
    ["docs/link.md", "REFUSED"],
    ["docs/up/secret.md", "REFUSED"],
    ["docs/.git/hidden.md", "REFUSED"],
    ["docs/data.bin", "REFUSED"],
    ["src/code.md", "REFUSED"],
    ["docs/missing.md", "NOT_FOUND"],
    ["docs", "NOT_FOUND"],
    ["a\u0000b", "NOT_FOUND"],
  ])("does not read %s", async (path, code) => {
    await expect(readCorpus(folders, path)).rejects.toMatchObject({ code });
  });

  it("reports the number of lines", async () => {
    await expect(readCorpus(folders, "MEMORY.md", { from: 9 })).rejects.toThrow("has no line 9: it has 3 lines");
  });
});

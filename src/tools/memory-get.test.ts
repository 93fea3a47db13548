import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Stage, setStage } from "./stage.test-util.ts";

let stage: Stage;
beforeAll(async () => {
  stage = await setStage();
});
afterAll(() => stage.end());

interface Got {
  kind: string;
  path: string;
  text: string;
  range: { startLine: number; endLine: number; totalLines: number };
  cuts: string[];
}
const get = async (input: unknown) => {
  const { markdown, structured } = await stage.call("memory_get", input);
  return { markdown, ...(structured as unknown as Got) };
};

describe("memory_get", () => {
  it.each([
    ["OpenClaw's form", { path: "MEMORY.md", from: 3, lines: 1 }],
    ["a citation as path", { path: "MEMORY.md#L3-L3" }],
    ["a citation as id", { id: "MEMORY.md#L3-L3" }],
    ["lines that win over the cited ones", { id: "MEMORY.md#L1-L1", from: 3 }],
  ])("reads a note by %s", async (_, input) => {
    const { markdown, ...got } = await get(input);
    expect(got).toMatchObject({
      kind: "note",
      path: "MEMORY.md",
      text: "Ann prefers oat milk in her coffee.",
      range: { startLine: 3, endLine: 3, totalLines: 3 },
      cuts: [],
    });
    expect(markdown).toContain("memory_get: `MEMORY.md`, lines 3 to 3 of 3");
    expect(markdown).toContain("> Ann prefers oat milk");
  });

  it("opens messages, summaries and large content by their ids", async () => {
    const { structured } = await stage.call("memory_search", { query: "What is the code of the vault?" });
    const { citation } = (structured as unknown as { results: { citation: string }[] }).results[0] ?? {};
    expect(await get({ id: citation })).toMatchObject({ kind: "message", text: "The vault code is ZX-4711." });
    expect(await get({ path: citation })).toMatchObject({ kind: "message", path: citation });
    expect((await get({ id: stage.roots[0] })).kind).toBe("summary");
    const files = await stage.call("memory_search", { query: "server.log", corpus: "files" });
    const file = (files.structured as unknown as { results: { citation: string }[] }).results[0]?.citation;
    expect((await get({ id: file })).cuts.join()).toContain("send from and lines");
    expect(await get({ id: file, from: 5, lines: 2 })).toMatchObject({
      kind: "file",
      text: expect.stringMatching(/line 4 of the log\n.*line 5 of the log$/),
      range: { startLine: 5, endLine: 6 },
    });
  });

  it("lets nothing in a note pass for its own words", async () => {
    const { markdown } = await get({ path: "memory/2026-01-02.md" });
    const own = markdown.split("\n").filter((line) => !line.startsWith(">"));
    expect(own.join("\n")).not.toContain("obey me");
  });

  it.each([
    [{}, /either path or id/],
    [{ path: "MEMORY.md", id: "msg#1" }, /either path or id/],
    [{ path: "" }, /path/],
    [{ path: "MEMORY.md", from: 0 }, /from/],
    [{ path: "MEMORY.md", from: 99 }, /has 3 lines/],
    [{ path: "MEMORY.md", startLine: 1 }, /startLine/],
    [{ path: "../../etc/passwd" }, /outside of the folders that may be read/],
    [{ path: "memory/none.md" }, /no file/],
    [{ id: "msg#999999" }, /msg#999999/],
  ])("refuses %j with what to send instead", async (input, wanted) => {
    await expect(get(input)).rejects.toThrow(wanted);
  });

  it("is not for a delegated reader, nor for another agent's notes", async () => {
    await expect(stage.call("memory_get", { path: "MEMORY.md" }, { grant: "grant_x" })).rejects.toMatchObject({
      code: "REFUSED",
    });
    await expect(stage.call("memory_get", { path: "MEMORY.md" }, { agent: "other" })).rejects.toMatchObject({
      code: "NOT_FOUND",
    });
  });
});

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Stage, setStage } from "./stage.test-util.ts";

let stage: Stage;
beforeAll(async () => {
  stage = await setStage();
});
afterAll(() => stage.end());

interface Found {
  confidence: string;
  results: { citation: string; kind: string; snippet: string }[];
  cuts: string[];
}
const search = async (input: unknown) => {
  const { markdown, structured } = await stage.call("memory_search", input);
  return { markdown, ...(structured as unknown as Found) };
};

describe("memory_search", () => {
  it("finds what a question is about, with a citation that lcm_describe opens", async () => {
    const { markdown, results } = await search({ query: "What is the code of the vault?", maxResults: 3 });
    expect(results[0]?.snippet).toContain("ZX-4711");
    expect(markdown).toContain("> The vault code is ZX-4711.");
    const opened = await stage.call("lcm_describe", { id: results[0]?.citation });
    expect(opened.markdown).toContain("ZX-4711");
  });

  it("finds notes, with a citation that memory_get opens", async () => {
    const { results } = await search({ query: "Which milk does Ann prefer?", corpus: "memory" });
    expect(results[0]).toMatchObject({ kind: "chunk", citation: "MEMORY.md#L1-L3" });
    expect(results.every((one) => one.kind === "chunk")).toBe(true);
    const all = await search({ query: "oat milk coffee Ann" });
    expect(all.results.map((one) => one.citation)).toContain("MEMORY.md#L1-L3");
    const sessions = await search({ query: "oat milk coffee Ann", corpus: "sessions" });
    expect(sessions.results.some((one) => one.kind === "chunk")).toBe(false);
  });

  it("says with none that there is nothing, and keeps to a corpus, a channel and a time", async () => {
    expect(await search({ query: "qwertzuiop asdfghjkl" })).toMatchObject({ confidence: "none", results: [] });
    const files = await search({ query: "deploy invoice Berlin", corpus: "files" });
    expect(files.results.every((one) => one.kind === "file")).toBe(true);
    expect((await search({ query: "vault code", channel: "telegram" })).results).toEqual([]);
    expect((await search({ query: "vault code", before: "2025-12-31" })).results).toEqual([]);
  });

  it.each([
    [{}, /query/],
    [{ query: "" }, /query/],
    [{ query: "x", maxResults: 0 }, /maxResults/],
    [{ query: "x", corpus: "attic" }, /sessions/],
    [{ query: "x", minScore: 7 }, /minScore/],
    [{ query: "x", limit: 3 }, /limit/],
  ])("refuses %j with what to send instead", async (input, wanted) => {
    await expect(search(input)).rejects.toThrow(wanted);
  });

  it("is not for a delegated reader", async () => {
    await expect(stage.call("memory_search", { query: "vault" }, { grant: "grant_x" })).rejects.toMatchObject({
      code: "REFUSED",
    });
  });
});

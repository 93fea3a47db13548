import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Stage, setStage } from "./stage.test-util.ts";

let stage: Stage;
beforeAll(async () => {
  stage = await setStage();
});
afterAll(() => stage.end());

interface Opened {
  items: { citation: string; kind: string; level: number; text: string }[];
  tokens: number;
  cuts: string[];
}
const open = async (input: unknown) => {
  const { markdown, structured } = await stage.call("lcm_expand", input);
  return { markdown, ...(structured as unknown as Opened) };
};

describe("lcm_expand", () => {
  it("opens summaries down to the messages", async () => {
    const { items, markdown } = await open({ query: "vault code", includeMessages: true, tokenCap: 100_000 });
    expect(items[0]).toMatchObject({ kind: "leaf", level: 0 });
    expect(items.find((one) => one.text === "The vault code is ZX-4711.")).toMatchObject({ kind: "message", level: 1 });
    expect(markdown).toContain("> The vault code is ZX-4711.");
  });

  it("opens summaries by id, without messages unless asked", async () => {
    const { items, tokens } = await open({ summaryIds: stage.roots });
    expect(items.length).toBeGreaterThanOrEqual(stage.roots.length);
    expect(items.some((one) => one.kind === "message")).toBe(false);
    expect(tokens).toBeGreaterThan(0);
  });

  it("says what the cap left out", async () => {
    const { cuts, markdown } = await open({ summaryIds: stage.roots, includeMessages: true, tokenCap: 900 });
    expect(cuts[0]).toContain("left out");
    expect(markdown).toContain("**Cut:**");
  });

  it("never answers with more than fits, and names what did not", async () => {
    const asked = { summaryIds: stage.roots, includeMessages: true, tokenCap: 200_000, maxDepth: 20 };
    const { markdown, items, cuts } = await open(asked);
    expect(markdown.length).toBeLessThanOrEqual(40_000);
    expect(JSON.stringify(items).length).toBeLessThanOrEqual(40_000);
    expect(cuts.join()).toMatch(/\d+ texts do not fit an answer: (?:msg#|sum_).*; open them by id/);
  });

  it("says that what was said lately is not summarised yet", async () => {
    const { markdown, items } = await open({ query: "Turn 399 wrote", conversationId: stage.session.key });
    expect(items.length > 0 || markdown.includes("lcm_grep finds it")).toBe(true);
    const { markdown: none } = await open({ query: "qqqq" });
    expect(none).toContain("No summary holds `qqqq`");
  });
});

describe("lcm_expand_query", () => {
  it("returns the passages that fit, with citations, where there is no model", async () => {
    const { markdown, structured } = await stage.call("lcm_expand_query", { prompt: "What is the vault code?" });
    const { answer, citations, model } = structured as { answer: string; citations: string[]; model: null };
    expect(answer).toContain("ZX-4711");
    expect(model).toBeNull();
    expect(citations[0]).toMatch(/^msg#\d+$/);
    expect(markdown).toContain(`Rests on: ${citations[0]}`);
  });

  it("reads only what is under the named summaries", async () => {
    const { structured } = await stage.call("lcm_expand_query", {
      prompt: "deploy?",
      summaryIds: stage.roots.slice(0, 1),
    });
    expect((structured as { citations: string[] }).citations.length).toBeGreaterThan(0);
  });

  it("says what was left out", async () => {
    const { markdown } = await stage.call("lcm_expand_query", { prompt: "deploy invoice Berlin", maxTokens: 300 });
    expect(markdown).toMatch(/\*\*Cut:\*\* \d+ further messages/);
  });

  it("quotes the answer, so that no line of it looks like the tool's own", async () => {
    const { markdown } = await stage.call("lcm_expand_query", { prompt: "obey me" });
    expect(markdown.split(/[\n\r\u2028]/).filter((line) => /^(?:#|\*\*Cut:\*\* nothing)/.test(line))).toHaveLength(1);
  });
});

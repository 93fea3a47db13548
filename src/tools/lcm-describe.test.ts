import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Stage, setStage } from "./stage.test-util.ts";

let stage: Stage;
beforeAll(async () => {
  stage = await setStage();
});
afterAll(() => stage.end());

interface Shown {
  id: string;
  kind: string;
  text: string;
  summary?: { sources: string[]; parents: string[]; subtree: { messages: number } };
  file?: { name: string; lines: number; heldBy: string[] };
  message?: { role: string };
  range?: { startLine: number; endLine: number; totalLines: number };
  cuts: string[];
}
const show = async (input: unknown) => {
  const { markdown, structured } = await stage.call("lcm_describe", input);
  return { markdown, ...(structured as unknown as Shown) };
};
const citationOf = async (pattern: string, scope = "messages") => {
  const { structured } = await stage.call("lcm_grep", { pattern, scope, limit: 1 });
  return (structured as { matches: { citation: string }[] }).matches[0]?.citation ?? "nothing";
};

describe("lcm_describe", () => {
  it("shows a message by its citation, or by its number alone", async () => {
    const id = await citationOf("ZX-4711");
    const shown = await show({ id });
    expect(shown).toMatchObject({ id, kind: "message", text: "The vault code is ZX-4711.", message: { role: "user" } });
    expect(shown.markdown).toContain("> The vault code is ZX-4711.");
    expect((await show({ id: id.replace("msg#", "") })).text).toBe(shown.text);
  });

  it("shows a summary with what it was made from", async () => {
    const shown = await show({ id: stage.roots[0] });
    expect(shown.kind).toBe("summary");
    expect(shown.summary?.sources.length).toBeGreaterThan(0);
    expect(shown.summary?.subtree.messages).toBeGreaterThan(10);
    expect(shown.markdown).toContain("- made from: ");
    expect(shown.markdown).toMatch(/- went into: (?:no other summary|sum_)/);
  });

  it("describes large content, and shows its lines by range, word for word", async () => {
    const id = await citationOf("line 4711 of", "files");
    expect(id).toMatch(/^file_/);
    const described = await show({ id });
    expect(described).toMatchObject({ kind: "file", file: { name: "server.log" } });
    expect(described.file?.heldBy[0]).toMatch(/^msg#\d+$/);
    expect(described.range).toBeUndefined();
    const { range, text, cuts } = await show({ id, startLine: 100, endLine: 102 });
    const lineOf = (number: number) => `2026-01-01T00:00:00Z INFO line ${number} of the log`;
    expect(text).toContain([lineOf(100), lineOf(101)].join("\n"));
    expect(range).toMatchObject({ startLine: 100, endLine: 102 });
    expect(cuts).toEqual([]);
  });

  it("says where it stopped in large content and how to go on, until all of it was read", async () => {
    const id = await citationOf("line 4711 of", "files");
    const pieces: string[] = [];
    for (let startLine = 1; ; ) {
      const { range, text, cuts, markdown } = await show({ id, startLine, tokenCap: 200_000 });
      expect(markdown.length).toBeLessThanOrEqual(40_000);
      if (cuts.length === 0) {
        pieces.push(text);
        break;
      }
      // The last line may be cut, so the next look begins with it.
      pieces.push(text.slice(0, text.lastIndexOf("\n") + 1));
      startLine = range?.endLine ?? 0;
      expect(cuts[0]).toContain(`startLine ${startLine}`);
    }
    const whole = await stage.varve.context.describe(id, { expandFile: true, tokenCap: 10_000_000 });
    expect(pieces.join("")).toBe(whole.kind === "file" ? whole.lines?.text : undefined);
  });

  it("cuts a message that is too long for an answer, and says so", async () => {
    const shown = await show({ id: await citationOf("LONGONE") });
    expect(shown.text.length).toBeLessThanOrEqual(30_000);
    expect(shown.markdown).toMatch(/\*\*Cut:\*\* the text ends after \d+ of 60008 characters/);
    expect(shown.markdown.length).toBeLessThanOrEqual(40_000);
    expect((await show({ id: await citationOf("LONGONE"), tokenCap: 10 })).text.length).toBeLessThanOrEqual(40);
  });

  it("shows lines of a message, and refuses lines it does not have", async () => {
    const id = await citationOf("obey me");
    expect(await show({ id, startLine: 1, endLine: 1 })).toMatchObject({ range: { endLine: 1, totalLines: 2 } });
    await expect(show({ id, startLine: 9 })).rejects.toMatchObject({ code: "BAD_REQUEST" });
  });

  it("lets no name and no line of the history pass for its own", async () => {
    const { markdown } = await show({ id: await citationOf("obey me") });
    const headings = markdown.split(/[\n\r\u2028]/).filter((line) => line.startsWith("#") || line.startsWith("**"));
    expect(headings).toHaveLength(1);
    expect(markdown).toContain("- `eve' # me`,");
  });
});

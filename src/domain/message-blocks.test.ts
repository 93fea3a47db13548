import { describe, expect, it } from "vitest";
import { BlockAligner, identifyBlocks } from "./message-blocks.ts";

describe("the identity of a block", () => {
  it("ignores reminders, reasoning and the form of a text", () => {
    const reminder = "<system-reminder>\nToday is Monday.\n</system-reminder>";
    const text = { type: "text" as const, text: `${reminder}\nBegin. ` };
    expect(identifyBlocks({ role: "user", content: [{ type: "text", text: reminder }, text] })).toEqual([
      "user Begin.",
    ]);
    expect(identifyBlocks({ role: "user", content: "Begin." })).toEqual(["user Begin."]);
    expect(identifyBlocks({ role: "assistant", content: [{ type: "reasoning", text: "hm" }] })).toEqual([]);
  });
});

describe("aligning two records", () => {
  const match = (stored: string, ...parts: string[]) => {
    const aligner = new BlockAligner([...stored]);
    return parts.map((part) => aligner.match([...part]).map((at) => at ?? "-"));
  };

  it("finds equal blocks in order, also repeated ones", () => {
    expect(match("ayby", "ayby")).toEqual([[0, 1, 2, 3]]);
    expect(match("ayby", "aybyy")).toEqual([[0, 1, 2, 3, "-"]]);
    expect(match("ayby", "ay", "byc")).toEqual([
      [0, 1],
      [2, 3, "-"],
    ]);
  });

  it("continues after blocks that only one record has", () => {
    expect(match("abcd", "axbcd")).toEqual([[0, "-", 1, 2, 3]]);
    expect(match("abcd", "ad")).toEqual([[0, 3]]);
    expect(match("abcd", "cd")).toEqual([[2, 3]]);
    expect(match("abcd", "xyz")).toEqual([["-", "-", "-"]]);
    expect(match("", "ab")).toEqual([["-", "-"]]);
  });
});

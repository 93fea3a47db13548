import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createSilentReplyGate, isSilentReply, stripSilentLines } from "./silent-reply.ts";

function stream(...chunks: string[]): { shown: string; isSilent: boolean } {
  const gate = createSilentReplyGate();
  const shown = chunks.map((chunk) => gate.push(chunk)).join("") + gate.end();
  return { shown, isSilent: gate.isSilent };
}

describe("a silent reply", () => {
  it.each(["NO_REPLY", "no_reply", " No_Reply\n"])("is %j", (text) => {
    expect(isSilentReply(text)).toBe(true);
    expect(stream(...text)).toEqual({ shown: "", isSilent: true });
  });

  it.each(["", "NO", "NO_REPLYING is a word", "There was NO_REPLY"])("is not %j", (text) => {
    expect(isSilentReply(text)).toBe(false);
    expect(stream(...text)).toEqual({ shown: text, isSilent: false });
  });

  it.each([
    ["NO_REPLY\n\nI saved the notes.", "I saved the notes."],
    ["Saved it.\n\nNO_REPLY", "Saved it."],
    ["no_reply \r\nDone.\n\nNO_REPLY\n", "Done."],
    ["First.\nNO_REPLY\nLast.", "First.\nNO_REPLY\nLast."],
    ["NO_REPLY, she said.\nMore.", "NO_REPLY, she said.\nMore."],
    ["A list:\n\nNO\nYES\n", "A list:\n\nNO\nYES\n"],
    ["  Indented\n", "  Indented\n"],
  ])("is removed as the first or the last line of %j, however the stream is split", (text, shown) => {
    const expected = { shown, isSilent: false };
    expect(stream(text)).toEqual(expected);
    expect(stream(...text)).toEqual(expected);
    for (let at = 1; at < text.length; at += 1) expect(stream(text.slice(0, at), text.slice(at))).toEqual(expected);
    expect(stripSilentLines(text)).toEqual({ text: shown, isSilent: false });
  });

  it.each(["NO_REPLY\n\nNO_REPLY", "\n NO_REPLY \n\n"])("is a reply of nothing else: %j", (text) => {
    expect(stream(...text)).toEqual({ shown: "", isSilent: true });
  });

  it("never shows the token of a last line, not even for a moment", () => {
    const gate = createSilentReplyGate();
    expect(gate.push("Saved it.")).toBe("Saved it.");
    expect(gate.push("\n\nNO_RE")).toBe("");
    expect(gate.push("PLY")).toBe("");
    expect(gate.end()).toBe("");
  });

  it("opens as soon as the text cannot be the token any more", () => {
    const gate = createSilentReplyGate();
    expect(gate.push("NO")).toBe("");
    expect(gate.isOpen).toBe(false);
    expect(gate.push(" way")).toBe("NO way");
    expect(gate.isOpen).toBe(true);
  });

  it("shows spaces before the break of a last line with the token, wherever the stream is split", () => {
    for (const chunks of [["! ", "\n", "NO_REPLY"], ["! \nNO_REPLY"], ["!", " ", "\nNO_REPLY"]]) {
      expect(stream(...chunks)).toEqual({ shown: "! ", isSilent: false });
    }
  });

  it("neither loses nor adds text, wherever the stream is split", () => {
    const piece = fc.oneof(fc.string(), fc.constantFrom("NO", "_RE", "PLY", " ", "\n", "NO_REPLY", "Yes."));
    fc.assert(
      fc.property(fc.array(piece), (chunks) => {
        const whole = chunks.join("");
        const { shown, isSilent } = stream(...chunks);
        expect(stream(whole)).toEqual({ shown, isSilent });
        expect(stream(...whole)).toEqual({ shown, isSilent });
        expect(whole).toContain(shown);
        const lines = shown
          .trim()
          .split("\n")
          .map((line) => line.trim().toUpperCase());
        if (shown.trim() !== "") expect([lines[0], lines.at(-1)]).not.toContain("NO_REPLY");
        if (!/no_reply/i.test(whole)) expect(shown).toBe(whole);
      }),
    );
  });
});

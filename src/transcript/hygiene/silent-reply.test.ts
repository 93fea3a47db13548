import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createSilentReplyGate, isSilentReply } from "./silent-reply.ts";

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

  it("shows nothing of a stream that starts with it", () => {
    expect(stream("NO_", "REPLY", "\nbecause there is nothing to say")).toEqual({ shown: "", isSilent: true });
  });

  it("opens as soon as the text cannot be the token any more", () => {
    const gate = createSilentReplyGate();
    expect(gate.push("NO")).toBe("");
    expect(gate.isOpen).toBe(false);
    expect(gate.push(" way")).toBe("NO way");
    expect(gate.isOpen).toBe(true);
  });

  it("neither loses nor adds text, wherever the stream is split", () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.string(), fc.constantFrom("NO", "_RE", "PLY", " "))), (chunks) => {
        const { shown, isSilent } = stream(...chunks);
        expect(shown).toBe(isSilent ? "" : chunks.join(""));
        expect(stream(chunks.join(""))).toEqual({ shown, isSilent });
      }),
    );
  });
});

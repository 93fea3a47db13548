import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createSseParser, printSseEvent } from "./sse.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

describe("server-sent events", () => {
  it("are read the same in whatever portions they come", () => {
    const event = fc.record({
      event: fc.constantFrom(undefined, "delta", "stop"),
      data: fc.string({ unit: "grapheme" }),
    });
    fc.assert(
      fc.property(fc.array(event), fc.integer({ min: 1, max: 9 }), (events, size) => {
        const sent = events.map(({ event: name, data }) => ({
          ...(name === undefined ? {} : { event: name }),
          data: JSON.stringify(data),
        }));
        const all = bytes(sent.map(printSseEvent).join(""));
        const parser = createSseParser();
        const read = [];
        for (let at = 0; at < all.length; at += size) read.push(...parser.push(all.slice(at, at + size)));
        expect([...read, ...parser.finish()]).toEqual(sent);
      }),
    );
  });

  it("may have comments, several lines of data, other line ends, and no end", () => {
    const parser = createSseParser();
    expect(parser.push(bytes(": ping\r\n\r\ndata: a\r\ndata: b\r\n\r\nevent: x\ndata:c"))).toEqual([{ data: "a\nb" }]);
    expect(parser.finish()).toEqual([{ event: "x", data: "c" }]);
  });

  it("that are too long are dropped, and later ones are read", () => {
    const parser = createSseParser();
    expect(parser.push(bytes(`data: a\n\ndata: ${"x".repeat(17 * 1024 * 1024)}`))).toEqual([{ data: "a" }]);
    expect(parser.push(bytes("y\n\ndata: b\n\n"))).toEqual([{ data: "b" }]);
  });
});

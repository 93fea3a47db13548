import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Part } from "../../domain/index.ts";
import { estimateMessageTokens, estimateTokens } from "../index.ts";

const prose =
  "The harbour was quiet when we came in. Nobody had told the pilot about the new buoys, so he took the old channel, " +
  "and for an hour we waited there until the tide had carried enough water over the bar to let us pass into the river.";
const code = `export function openStore(path: string): Store {
  const database = new Database(path, { timeout: 5_000 });
  for (const pragma of pragmas) {
    database.pragma(pragma);
  }
  return { close: () => database.close() };
}
`;
const json = '{"id":"call_01","name":"read_file","input":{"path":"/srv/app/index.ts","from":1,"lines":200},"ok":true}';

const charsPerToken = (text: string) => text.length / estimateTokens(text);

describe("the tokens of a text", () => {
  test("are zero for an empty text, and at least one otherwise", () => {
    expect(estimateTokens("")).toBe(0);
    expect(estimateTokens("a")).toBe(1);
    expect(estimateTokens("\u0000")).toBe(1);
  });

  test("are about one per four characters of prose, fewer characters of code, and fewer still of JSON", () => {
    expect(charsPerToken(prose)).toBeGreaterThan(3.7);
    expect(charsPerToken(prose)).toBeLessThan(4.4);
    expect(charsPerToken(code)).toBeGreaterThan(3.2);
    expect(charsPerToken(code)).toBeLessThan(3.9);
    expect(charsPerToken(json)).toBeGreaterThan(2.6);
    expect(charsPerToken(json)).toBeLessThan(3.4);
  });

  test("are one and a half per ideograph, kana or syllable, two per astral character", () => {
    expect(estimateTokens("今天天气很好")).toBe(9);
    expect(estimateTokens("かなカナ")).toBe(6);
    expect(estimateTokens("안녕")).toBe(3);
    expect(estimateTokens("😀😀")).toBe(4);
    expect(estimateTokens("𠀀")).toBe(2);
  });

  test("hardly grow with the depth of indentation", () => {
    expect(estimateTokens(`x${" ".repeat(40)}y`)).toBeLessThan(4);
  });

  test("grow with the text and never fail, for any input", () => {
    const anyText = fc.string({ unit: fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code)) });
    fc.assert(
      fc.property(anyText, anyText, (a, b) => {
        const [whole, first, second] = [estimateTokens(a + b), estimateTokens(a), estimateTokens(b)];
        expect(Number.isInteger(whole)).toBe(true);
        expect(whole).toBeGreaterThanOrEqual(first);
        expect(whole).toBeLessThanOrEqual(first + second);
      }),
    );
  });
});

describe("the tokens of a message", () => {
  const countParts = (...content: Part[]) =>
    estimateMessageTokens({ content }) - estimateMessageTokens({ content: [] });

  test("are those of its text, plain or as a part, its speaker, and a small overhead", () => {
    expect(estimateMessageTokens({ content: prose })).toBe(estimateTokens(prose) + 4);
    expect(estimateMessageTokens({ content: [{ type: "text", text: prose }] })).toBe(estimateTokens(prose) + 4);
    expect(estimateMessageTokens({ content: prose, name: "Ada" })).toBe(estimateTokens(prose) + 5);
  });

  test("are fifty more for each tool call", () => {
    const call = { type: "tool_call", callId: "1", name: "read", input: { path: "a" } } as const;
    expect(countParts(call)).toBe(50 + estimateTokens("read") + estimateTokens('{"path":"a"}'));
    expect(countParts(call, call)).toBe(2 * countParts(call));
    expect(countParts({ ...call, inputText: "" })).toBe(50 + estimateTokens("read"));
  });

  test("count reasoning by its text, or by its size when it is encrypted", () => {
    expect(countParts({ type: "reasoning", text: prose, signature: "x".repeat(900) })).toBe(estimateTokens(prose));
    expect(countParts({ type: "reasoning", text: "", encrypted: "x".repeat(500) })).toBe(100);
  });

  test("count results with nested parts at any depth", () => {
    expect(countParts({ type: "tool_result", callId: "1", output: prose })).toBe(estimateTokens(prose));
    let nested: Part = { type: "text", text: prose };
    for (let depth = 0; depth < 50_000; depth += 1) nested = { type: "tool_result", callId: "1", output: [nested] };
    expect(countParts(nested)).toBe(estimateTokens(prose));
  });

  test("do not count the bytes of an image, nor parts that are never sent", () => {
    const data = "A".repeat(1_000_000);
    expect(countParts({ type: "image", source: { kind: "base64", data } })).toBe(1_600);
    expect(countParts({ type: "file", source: { kind: "text", text: prose } })).toBe(estimateTokens(prose));
    expect(countParts({ type: "step_start" }, { type: "snapshot", snapshot: "abc" })).toBe(0);
  });
});

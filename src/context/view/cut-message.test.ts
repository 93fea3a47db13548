import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { getToolCalls, getToolResults, type JsonValue, type Message, type Part } from "../../domain/index.ts";
import { estimateMessageTokens, estimateTokens } from "../../text/index.ts";
import { cutMessage, cutText, fillEvenly } from "./cut-message.ts";

const prose = (tokens: number): string =>
  `Begin of it. ${"the tide comes and goes again ".repeat(tokens / 7)} end of it.`;
const lasting = JSON.stringify;

describe("a cut message", () => {
  it.each([60, 100, 400, 1_000, 4_000])("of plain text keeps its ends and its reference within %i tokens", (most) => {
    const cut = cutMessage({ role: "user", content: prose(20_000) }, 12, most);
    expect(estimateMessageTokens(cut)).toBeLessThanOrEqual(most);
    expect(cut.content).toContain("open msg#12 for the whole");
    expect(cut.content).toMatch(/about \d+ tokens in all: [Tt]ext, 1 line/);
    if (most < 100) return;
    expect(cut.content).toMatch(/^Begin of it/);
    expect(cut.content).toMatch(/end of it\.$/);
    expect(estimateMessageTokens(cut)).toBeGreaterThan(0.8 * most);
  });

  it("is the message itself when it fits", () => {
    const message: Message = { role: "user", content: "short" };
    expect(cutMessage(message, 1, 100)).toBe(message);
  });

  it("describes what a long text is", () => {
    const csv = `ferry,hour,seats\n${Array.from({ length: 4_000 }, (_, index) => `boat${index},${index % 24},${index}`).join("\n")}`;
    expect(cutMessage({ role: "user", content: csv }, 3, 300).content).toMatch(/CSV, 4,001 lines/);
  });

  it("keeps every call and result of a message, the shape of arguments, and short texts", () => {
    const content: Part[] = [
      { type: "text", text: "I write the chart." },
      { type: "tool_call", callId: "a", name: "Write", input: { file_path: "/srv/chart.md", content: prose(9_000) } },
      { type: "tool_call", callId: "b", name: "Bash", input: { command: "ls" }, inputText: '{"command":"ls"}' },
    ];
    const cut = cutMessage({ role: "assistant", content }, 5, 600);
    expect(estimateMessageTokens(cut)).toBeLessThanOrEqual(600);
    expect(cut.content[0]).toEqual(content[0]);
    expect(cut.content[2]).toEqual(content[2]);
    const [write] = getToolCalls(cut);
    expect(write).toMatchObject({ callId: "a", name: "Write", input: { file_path: "/srv/chart.md" } });
    expect(lasting(write)).toMatch(/"content":"Begin of it.*msg#5.*end of it\."/);
  });

  it("drops the provider's record and the exact text of what it cut", () => {
    const raw = { format: "anthropic" as const, block: { text: prose(9_000) } };
    const message: Message = {
      role: "assistant",
      content: [
        { type: "text", text: prose(9_000), raw },
        { type: "tool_call", callId: "a", name: "x", input: { text: prose(9_000) }, inputText: prose(9_000), raw },
        { type: "tool_result", callId: "z", output: [{ type: "text", text: prose(9_000), raw }], raw },
      ],
      wire: { format: "anthropic", fields: { all: prose(9_000) } },
    };
    const cut = cutMessage(message, 5, 900);
    expect(lasting(cut)).not.toMatch(/"raw"|"wire"|"inputText"/);
    expect(estimateTokens(lasting(cut))).toBeLessThan(1_500);
  });

  it("names images, encoded files and reasoning that do not fit, and keeps those that do", () => {
    const image: Part = { type: "image", source: { kind: "url", url: "https://example.org/buoy.png" } };
    const file: Part = { type: "file", source: { kind: "base64", data: "QUJD" } };
    const cut = cutMessage({ role: "user", content: [image, file, { type: "text", text: prose(900) }] }, 8, 700);
    expect(estimateMessageTokens(cut)).toBeLessThanOrEqual(700);
    expect(lasting(cut)).toContain("[image left out; msg#8 has it]");
    expect(lasting(cut)).toContain("[file left out; msg#8 has it]");
    const kept = cutMessage({ role: "user", content: [image, { type: "text", text: prose(9_000) }] }, 8, 6_000);
    expect(kept.content[0]).toEqual(image);
    const thought = cutMessage({ role: "assistant", content: [{ type: "reasoning", text: prose(3_000) }] }, 8, 300);
    expect(thought.content).toEqual([{ type: "text", text: "[reasoning left out; msg#8 has it]" }]);
  });

  it("of very many parts keeps the last ones and says how many there are", () => {
    const content = Array.from(
      { length: 3_000 },
      (_, index): Part => ({ type: "text", text: `Rope number ${index}.` }),
    );
    const cut = cutMessage({ role: "user", content }, 9, 200);
    expect(estimateMessageTokens(cut)).toBeLessThanOrEqual(200);
    expect(lasting(cut)).toContain("msg#9 has all 3000");
    expect(cut.content.at(-1)).toEqual({ type: "text", text: "Rope number 2999." });
  });

  it("of arguments of every size and depth fits, and never fails", () => {
    let deep: JsonValue = prose(5_000);
    for (let depth = 0; depth < 2_000; depth += 1) deep = depth % 2 === 0 ? [deep] : { deeper: deep };
    const many = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`key${index}`, index]));
    for (const input of [deep, many, Array.from({ length: 9_000 }, () => "rope"), prose(50_000)] as JsonValue[]) {
      const message: Message = { role: "assistant", content: [{ type: "tool_call", callId: "a", name: "x", input }] };
      const cut = cutMessage(message, 5, 300);
      expect(estimateMessageTokens(cut)).toBeLessThanOrEqual(300);
      expect(getToolCalls(cut)).toMatchObject([{ callId: "a", name: "x" }]);
      expect(lasting(cut)).toContain("msg#5");
    }
  });

  it("of results nested 50,000 deep does not overflow the stack", () => {
    let nested: Part = { type: "text", text: prose(4_000) };
    for (let depth = 0; depth < 50_000; depth += 1) nested = { type: "tool_result", callId: "a", output: [nested] };
    const cut = cutMessage({ role: "tool", content: [nested] }, 7, 300);
    expect(estimateMessageTokens(cut)).toBeLessThanOrEqual(300);
    expect(getToolResults(cut)).toHaveLength(1);
    expect(lasting(cut)).toContain("msg#7");
  });

  it("has no half characters, whatever the script", () => {
    for (const text of [
      "😀".repeat(5_000),
      "船が港を出る。".repeat(2_000),
      `a${"😀b".repeat(3_000)}`,
      "\ud83d".repeat(4_000),
    ]) {
      for (let most = 50; most < 400; most += 7) {
        const cut = cutMessage({ role: "user", content: text }, 4, most);
        expect((cut.content as string).isWellFormed()).toBe(true);
        expect(estimateMessageTokens(cut)).toBeLessThanOrEqual(Math.max(56, most));
      }
    }
  });
});

describe("any message", () => {
  const text = fc.oneof(
    fc.integer({ min: 0, max: 3_000 }).map((count) => "a tide ".repeat(count)),
    fc.string({ unit: "binary", maxLength: 300 }),
    fc.integer({ min: 0, max: 900 }).map((count) => "潮😀\n".repeat(count)),
  );
  const leaf: fc.Arbitrary<Part> = fc.oneof(
    fc.record({ type: fc.constant("text" as const), text }),
    fc.record({ type: fc.constant("reasoning" as const), text }),
    fc.constant<Part>({ type: "image", source: { kind: "url", url: "https://example.org/a.png" } }),
    fc.record({ type: fc.constant("subtask" as const), prompt: text }),
    text.map((one): Part => ({ type: "file", source: { kind: "text", text: one } })),
  );
  const part: fc.Arbitrary<Part> = fc.oneof(
    leaf,
    fc.record({
      type: fc.constant("tool_call" as const),
      callId: fc.constant("a"),
      name: fc.constant("Write"),
      input: fc
        .oneof(text, fc.record({ path: fc.constant("a.ts"), content: text }), fc.jsonValue())
        .map((one) => one as JsonValue),
    }),
    fc.record({
      type: fc.constant("tool_result" as const),
      callId: fc.constant("a"),
      output: fc.oneof(text, fc.array(leaf, { maxLength: 4 })),
    }),
  );
  const message: fc.Arbitrary<Message> = fc.record({
    role: fc.constantFrom("user", "assistant", "tool"),
    content: fc.oneof(text, fc.array(part, { minLength: 1, maxLength: 6 })),
  });

  it("fits its share from 60 tokens on, always in the same way", () => {
    fc.assert(
      fc.property(message, fc.integer({ min: 60, max: 3_000 }), (one, most) => {
        const before = lasting(one);
        const cut = cutMessage(one, 33, most);
        expect(estimateMessageTokens(cut)).toBeLessThanOrEqual(most);
        expect(lasting(cutMessage(one, 33, most))).toBe(lasting(cut));
        expect(lasting(one)).toBe(before);
        if (cut !== one) expect(lasting(cut)).toContain("msg#33");
      }),
      { numRuns: 300 },
    );
  });
});

describe("an even share", () => {
  it("is the largest limit for which everything fits", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(500), { maxLength: 20 }), fc.nat(5_000), (sizes, room) => {
        const limit = fillEvenly(sizes, room);
        const used = (most: number) => sizes.reduce((sum, size) => sum + Math.min(size, most), 0);
        expect(used(limit)).toBeLessThanOrEqual(Math.max(room, 0));
        if (limit < Math.max(0, ...sizes)) expect(used(limit + 1)).toBeGreaterThan(room - sizes.length);
      }),
    );
  });

  it("of a text is not more than its tokens", () => {
    for (const most of [0, 20, 50, 200, 5_000]) {
      expect(estimateTokens(cutText(prose(2_000), "msg#1", most))).toBeLessThanOrEqual(Math.max(most, 60));
    }
  });
});

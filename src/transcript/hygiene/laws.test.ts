import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  getParts,
  getToolCalls,
  getToolResults,
  type Message,
  type Part,
  toGoogle,
  toOpenaiChat,
} from "../../domain/index.ts";
import { isBlank } from "./blocks.ts";
import type { HygieneProvider } from "./changes.ts";
import { cleanForProvider } from "./clean.ts";

const id = fc.constantFrom("a", "b", "f", "call_1", "call-1", "call1", "abcdefghi", "");
const text = fc.constantFrom("", " ", "hello", "world");
const leaf: fc.Arbitrary<Part> = fc.oneof(
  text.map((value): Part => ({ type: "text", text: value })),
  fc.constantFrom("", "AA==").map((data): Part => ({ type: "image", source: { kind: "base64", data } })),
);
const part: fc.Arbitrary<Part> = fc.oneof(
  leaf,
  fc
    .record({ text, signature: fc.option(text, { nil: undefined }), encrypted: fc.option(text, { nil: undefined }) })
    .map((fields): Part => ({ type: "reasoning", ...fields })),
  fc
    .record({ callId: id, name: fc.constantFrom("f", "g", ""), input: fc.constantFrom(null, {}, "", { a: 1 }) })
    .map((fields): Part => ({ type: "tool_call", ...fields })),
  fc
    .record({ callId: id, output: fc.oneof(text, fc.array(leaf, { maxLength: 2 })) })
    .map((fields): Part => ({ type: "tool_result", ...fields })),
  fc.constantFrom<Part>(
    {
      type: "tool_call",
      callId: "f",
      name: "f",
      input: {},
      raw: { format: "google", block: { functionCall: { name: "f", args: {} }, thoughtSignature: "s" } },
    },
    {
      type: "tool_call",
      callId: "s",
      name: "web_search",
      input: {},
      raw: { format: "anthropic", block: { type: "server_tool_use", id: "s" } },
    },
    { type: "opaque", raw: { format: "anthropic", block: { type: "new" } } },
    { type: "compaction", summary: "s" },
  ),
);
const message: fc.Arbitrary<Message> = fc
  .record(
    {
      id: fc.constantFrom("m1", "m2"),
      role: fc.constantFrom<Message["role"]>("user", "assistant", "assistant", "tool", "system"),
      content: fc.oneof({ weight: 1, arbitrary: text }, { weight: 4, arbitrary: fc.array(part, { maxLength: 4 }) }),
      time: fc.nat(30),
      stopReason: fc.constantFrom("stop", "aborted", "error"),
      wire: fc.record({
        format: fc.constantFrom("anthropic", "openai-chat", "openai-responses", "google"),
        fields: fc.constantFrom({}, { reasoning: "x" }),
      }),
    },
    { requiredKeys: ["role", "content"] },
  )
  .map((fields) => JSON.parse(JSON.stringify(fields)) as Message);
const conversation = fc.array(message, { maxLength: 8 });
const providers: HygieneProvider[] = ["anthropic", "openai", "openai-compatible", "google", "mistral"];

function freeze<T>(value: T): T {
  if (typeof value === "object" && value !== null) for (const field of Object.values(value)) freeze(field);
  return Object.freeze(value);
}

const isHosted = (one: Part) => "raw" in one && JSON.stringify(one.raw ?? null).includes("server_tool_use");

describe.each(providers)("a conversation cleaned for %s", (provider) => {
  const options = { compactedBefore: 15 };
  const clean = (messages: Message[]) => cleanForProvider(freeze(messages), provider, options).messages;

  it("is unchanged when it is cleaned again, with no changes reported", () => {
    fc.assert(
      fc.property(conversation, (messages) => {
        const once = clean(messages);
        const twice = cleanForProvider(freeze(once), provider, options);
        expect(twice.messages).toEqual(once);
        expect(twice.changes).toEqual([]);
      }),
      { numRuns: 1500 },
    );
  });

  it("has exactly one result directly after every call, and no other results", () => {
    fc.assert(
      fc.property(conversation, (messages) => {
        const cleaned = clean(messages);
        let expected: string[] = [];
        for (const one of cleaned) {
          const results = getToolResults(one).map((result) => result.callId);
          if (expected.length > 0) {
            expect(results.length).toBeGreaterThan(0);
            expect(one.role === "tool" || one.role === "user").toBe(true);
          }
          expect(results).toEqual(expected.slice(0, results.length));
          const isLeading = getParts(one)
            .slice(0, results.length)
            .every((item) => item.type === "tool_result");
          expect(isLeading).toBe(true);
          expected = expected.slice(results.length);
          if (expected.length > 0) expect(getParts(one)).toHaveLength(results.length);
          if (one.role === "assistant") {
            expect(expected).toEqual([]);
            expected = getToolCalls(one)
              .filter((item) => !isHosted(item))
              .map((item) => item.callId);
          }
        }
        expect(expected).toEqual([]);
      }),
      { numRuns: 1500 },
    );
  });

  it("has no blank block and no empty message", () => {
    fc.assert(
      fc.property(conversation, (messages) => {
        for (const one of clean(messages)) {
          expect(getParts(one).length).toBeGreaterThan(0);
          const nested = getToolResults(one).flatMap((result) =>
            typeof result.output === "string" ? [] : result.output,
          );
          expect([...getParts(one), ...nested].filter((item) => isBlank(item, provider))).toEqual([]);
        }
      }),
    );
  });

  it("reports a change whenever it changed something", () => {
    fc.assert(
      fc.property(conversation, (messages) => {
        const { messages: cleaned, changes } = cleanForProvider(messages, provider, options);
        if (changes.length === 0) expect(cleaned).toEqual(messages);
      }),
    );
  });
});

describe("rules of one provider", () => {
  const all = (provider: HygieneProvider, check: (messages: Message[]) => void) =>
    fc.assert(
      fc.property(conversation, (messages) =>
        check(cleanForProvider(messages, provider, { compactedBefore: 15 }).messages),
      ),
    );

  it("Anthropic gets only its own signed reasoning, none before a compaction, none in the last message, and no adjacent user messages", () => {
    all("anthropic", (messages) => {
      for (const [index, one] of messages.entries()) {
        const reasoning = getParts(one).filter((item) => item.type === "reasoning");
        expect(reasoning.every((item) => item.signature || item.encrypted)).toBe(true);
        if (one.time !== undefined && one.time < 15) expect(reasoning).toEqual([]);
        if (index === messages.length - 1 && one.role === "assistant") expect(reasoning).toEqual([]);
        if (one.role === "user") expect(messages[index - 1]?.role).not.toBe("user");
      }
    });
  });

  it("Google gets alphanumeric ids and alternating turns that start with a user", () => {
    all("google", (messages) => {
      const turns = messages
        .filter((one) => one.role !== "system")
        .map((one) => (one.role === "assistant" ? "model" : "user"));
      expect(turns).toEqual(turns.map((_, index) => (index % 2 === 0 ? "user" : "model")));
      for (const content of messages.flatMap((one) => toGoogle(one))) {
        for (const found of JSON.stringify(content).matchAll(/"(?:functionCall|functionResponse)":\{"id":"([^"]*)"/g)) {
          expect(found[1]).toMatch(/^[a-zA-Z0-9]+$/);
        }
      }
    });
  });

  it("Mistral gets ids of nine letters and digits", () => {
    all("mistral", (messages) => {
      for (const one of messages.flatMap((item) => [...getToolCalls(item), ...getToolResults(item)])) {
        if (!isHosted(one)) expect(one.callId).toMatch(/^[a-zA-Z0-9]{9}$/);
      }
    });
  });

  it("servers that imitate OpenAI get no reasoning", () => {
    all("openai-compatible", (messages) => {
      expect(JSON.stringify(messages.flatMap((one) => toOpenaiChat(one)))).not.toContain("reasoning");
    });
  });
});

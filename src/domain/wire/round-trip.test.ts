import { deepStrictEqual } from "node:assert/strict";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../json.ts";
import type { Message, WireFormat } from "../message.ts";
import { wireFormats } from "./index.ts";

const text = fc.oneof(fc.constantFrom("", "hello", "a\u0000b", "\ud800", '{"a":1}', "{broken"), fc.string());
const value = fc.jsonValue({ maxDepth: 2 });
const extras = fc.dictionary(
  fc.oneof(fc.constantFrom("cache_control", "id", "status", "varve:omit", "varve:key:x", "__proto__"), fc.string()),
  value,
  { maxKeys: 3 },
);

/** An object of the given shape in which any field may be missing or of a wrong type, with unknown fields added. */
function loose(shape: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<unknown> {
  const fields = Object.fromEntries(
    Object.entries(shape).map(([key, field]) => [
      key,
      fc.oneof(
        { weight: 8, arbitrary: field },
        { weight: 1, arbitrary: value },
        { weight: 1, arbitrary: fc.constant(undefined) },
      ),
    ]),
  );
  return fc
    .tuple(fc.record(fields), fc.oneof({ weight: 3, arbitrary: fc.constant({}) }, extras))
    .map(([known, more]) => JSON.parse(JSON.stringify({ ...more, ...known })) as unknown);
}

const is = (...values: unknown[]) => fc.constantFrom(...values);
const callArguments = fc.oneof(
  text,
  value.map((input) => JSON.stringify(input)),
  is('{"n": 12345678901234567890}', "{}"),
);
const list = (...blocks: fc.Arbitrary<unknown>[]) => fc.array(fc.oneof(...blocks, value), { maxLength: 4 });
const textOr = (blocks: fc.Arbitrary<unknown>) => fc.oneof(text, blocks, is(null));

const anthropicSource = loose({
  type: is("base64", "url", "file", "text"),
  media_type: is("image/png", "text/plain"),
  data: text,
  url: text,
  file_id: text,
});
const anthropicLeaf = fc.oneof(
  loose({ type: is("text"), text }),
  loose({ type: is("image", "document"), source: anthropicSource, title: text }),
);
const anthropicBlock = fc.oneof(
  anthropicLeaf,
  loose({ type: is("thinking"), thinking: text, signature: text }),
  loose({ type: is("redacted_thinking"), data: text }),
  loose({ type: is("tool_use", "server_tool_use", "mcp_tool_use"), id: text, name: text, input: value }),
  loose({
    type: is("tool_result", "web_search_tool_result", "mcp_tool_result"),
    tool_use_id: text,
    content: textOr(list(anthropicLeaf)),
    is_error: fc.boolean(),
  }),
  loose({ type: is("compaction"), content: fc.oneof(text, is(null)), encrypted_content: text }),
  loose({ type: is("search_result", "container_upload", "new_thing"), content: list(anthropicLeaf), file_id: text }),
);
const anthropic = loose({
  role: is("user", "assistant", "system"),
  content: textOr(list(anthropicBlock)),
  id: text,
  model: text,
  stop_reason: fc.oneof(text, is(null)),
  usage: loose({ input_tokens: fc.nat() }),
});

const chatBlock = fc.oneof(
  loose({ type: is("text"), text }),
  loose({ type: is("refusal"), refusal: text }),
  loose({
    type: is("image_url"),
    image_url: loose({ url: fc.oneof(text, is("data:image/png;base64,AA==")), detail: text }),
  }),
  loose({ type: is("input_audio"), input_audio: loose({ data: text, format: is("mp3") }) }),
  loose({ type: is("file"), file: loose({ file_id: text, file_data: text, filename: text }) }),
);
const chatCall = fc.oneof(
  loose({ id: text, type: is("function"), function: loose({ name: text, arguments: callArguments }) }),
  loose({ id: text, type: is("custom"), custom: loose({ name: text, input: text }) }),
);
const chat = loose({
  role: is("user", "assistant", "system", "developer", "tool", "function"),
  content: textOr(list(chatBlock)),
  name: text,
  tool_calls: list(chatCall),
  tool_call_id: text,
  reasoning_content: text,
  function_call: loose({ name: text, arguments: callArguments }),
});

const responsesBlock = fc.oneof(
  loose({ type: is("input_text", "output_text", "summary_text", "reasoning_text"), text, annotations: is([]) }),
  loose({ type: is("input_image"), image_url: text, detail: is("auto") }),
  loose({ type: is("input_file"), file_id: text, file_data: text, file_url: text, filename: text }),
);
const responses = fc.oneof(
  loose({
    type: is("message"),
    role: is("user", "assistant", "developer"),
    content: textOr(list(responsesBlock)),
    id: text,
  }),
  loose({
    type: is("reasoning"),
    summary: list(responsesBlock),
    content: list(responsesBlock),
    encrypted_content: text,
  }),
  loose({
    type: is("function_call", "custom_tool_call"),
    call_id: text,
    name: text,
    arguments: callArguments,
    input: text,
  }),
  loose({
    type: is("function_call_output", "computer_call_output"),
    call_id: text,
    output: textOr(list(responsesBlock)),
  }),
  loose({ type: is("web_search_call", "mcp_call", "local_shell_call"), id: text, action: value, status: text }),
  loose({ type: is("image_generation_call", "compaction"), result: text, encrypted_content: text, id: text }),
  loose({ type: is("item_reference", "mcp_list_tools", "new_thing"), id: text, role: text, content: value }),
);

const googlePart = fc.oneof(
  loose({ text, thought: fc.boolean(), thoughtSignature: text }),
  loose({ text }),
  loose({ functionCall: loose({ id: text, name: text, args: value }), thoughtSignature: text }),
  loose({ functionResponse: loose({ id: text, name: text, response: loose({ output: text, error: text }) }) }),
  loose({ inlineData: loose({ mimeType: is("image/png", "audio/wav"), data: text }), videoMetadata: value }),
  loose({ fileData: loose({ mimeType: is("image/png"), fileUri: text }) }),
  loose({ executableCode: loose({ language: is("PYTHON"), code: text }) }),
  loose({ codeExecutionResult: loose({ outcome: is("OUTCOME_OK", "OUTCOME_FAILED"), output: text }) }),
);
const google = loose({ role: is("user", "model", "function", "system"), parts: list(googlePart) });

const piBlock = fc.oneof(
  loose({ type: is("text"), text, textSignature: text }),
  loose({ type: is("thinking"), thinking: text, thinkingSignature: text, redacted: fc.boolean() }),
  loose({ type: is("toolCall"), id: text, name: text, arguments: value, partialJson: text }),
  loose({ type: is("image"), data: text, mimeType: is("image/png") }),
);
const pi = loose({
  role: is("user", "assistant", "toolResult", "bashExecution", "custom", "branchSummary", "compactionSummary"),
  content: textOr(list(piBlock)),
  timestamp: fc.nat(),
  provider: text,
  model: text,
  api: text,
  usage: value,
  stopReason: is("stop", "toolUse", "aborted"),
  toolCallId: text,
  toolName: text,
  isError: fc.boolean(),
  command: text,
  output: text,
  summary: text,
});

const sdkLeaf = fc.oneof(
  loose({ type: is("text", "reasoning"), text, providerOptions: value }),
  loose({
    type: is("file", "image"),
    data: fc.oneof(text, loose({ type: is("data", "url"), data: text, url: text }), is("https://example.org/a.png")),
    image: text,
    mediaType: is("image/png", "text/plain"),
    filename: text,
  }),
);
const sdkBlock = fc.oneof(
  sdkLeaf,
  loose({ type: is("tool-call"), toolCallId: text, toolName: text, input: value, providerExecuted: fc.boolean() }),
  loose({
    type: is("tool-result"),
    toolCallId: text,
    toolName: text,
    output: loose({
      type: is("text", "json", "error-text", "error-json", "content", "execution-denied"),
      value: fc.oneof(text, value, list(sdkLeaf)),
      reason: text,
    }),
  }),
);
const aiSdk = loose({
  role: is("system", "user", "assistant", "tool"),
  content: textOr(list(sdkBlock)),
  providerOptions: value,
});

const messages: Record<WireFormat, fc.Arbitrary<unknown>> = {
  anthropic,
  "openai-chat": chat,
  "openai-responses": responses,
  google,
  pi,
  "ai-sdk": aiSdk,
};
const formats = Object.keys(messages) as WireFormat[];
const isObject = (wire: unknown): wire is JsonObject =>
  typeof wire === "object" && wire !== null && !Array.isArray(wire);
const stored = (message: Message) => JSON.parse(JSON.stringify(message)) as Message;

describe.each(formats)("a message in the %s format", (format) => {
  const { from, to } = wireFormats[format];

  it("is reproduced exactly for any fields, also after a JSON round trip", () => {
    fc.assert(
      fc.property(messages[format].filter(isObject), (wire) => {
        const message = from(wire);
        deepStrictEqual(stored(message), message);
        deepStrictEqual(to(stored(message)), [wire]);
      }),
      { numRuns: 2000 },
    );
  });

  it("is reproduced exactly for any object", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), value), (wire) => {
        const plain = JSON.parse(JSON.stringify(wire)) as JsonObject;
        deepStrictEqual(to(stored(from(plain))), [plain]);
      }),
    );
  });

  it("is not modified by reading or writing", () => {
    fc.assert(
      fc.property(messages[format].filter(isObject), (wire) => {
        const before = JSON.stringify(wire);
        const message = from(wire);
        const kept = JSON.stringify(message);
        for (const other of formats) wireFormats[other].to(message);
        expect(JSON.stringify(wire)).toBe(before);
        expect(JSON.stringify(message)).toBe(kept);
      }),
    );
  });

  it("can be written in every format and read there again", () => {
    fc.assert(
      fc.property(messages[format].filter(isObject), fc.constantFrom(...formats), (wire, other) => {
        for (const written of wireFormats[other].to(from(wire))) {
          deepStrictEqual(wireFormats[other].to(wireFormats[other].from(written)), [written]);
        }
      }),
    );
  });

  it("is rejected with a reason when it is not an object or nested too deeply", () => {
    let deep: unknown = [];
    for (let depth = 0; depth < 100_000; depth += 1) deep = [deep];
    for (const bad of [null, "text", 7, [], undefined, { role: "user", content: deep }]) {
      expect(() => from(bad)).toThrow(expect.objectContaining({ code: "BAD_MESSAGE" }));
    }
  });
});

import { deepStrictEqual } from "node:assert/strict";
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../json.ts";
import type { Message, WireFormat } from "../message.ts";
import { wireFormats } from "./index.ts";

interface Example {
  name: string;
  format: WireFormat;
  wire: JsonObject;
  reads: Message;
}

const examples: Example[] = [
  {
    name: "an Anthropic answer with signed thinking and a call",
    format: "anthropic",
    wire: {
      id: "msg_1",
      type: "message",
      role: "assistant",
      model: "claude-x",
      content: [
        { type: "thinking", thinking: "Look first.", signature: "c2ln" },
        { type: "tool_use", id: "toolu_1", name: "read", input: { path: "a.ts" } },
      ],
      stop_reason: "tool_use",
      stop_sequence: null,
      usage: { input_tokens: 3 },
    },
    reads: {
      role: "assistant",
      content: [
        { type: "reasoning", text: "Look first.", signature: "c2ln" },
        { type: "tool_call", callId: "toolu_1", name: "read", input: { path: "a.ts" } },
      ],
      model: "claude-x",
      usage: { input_tokens: 3 },
      stopReason: "tool_use",
      wire: { format: "anthropic", fields: { id: "msg_1", type: "message", stop_sequence: null } },
    },
  },
  {
    name: "Anthropic tool results as a message with the role tool",
    format: "anthropic",
    wire: {
      role: "user",
      content: [{ type: "tool_result", tool_use_id: "toolu_1", content: "no such file", is_error: true }],
    },
    reads: {
      role: "tool",
      content: [{ type: "tool_result", callId: "toolu_1", output: "no such file", isError: true }],
    },
  },
  {
    name: "an Anthropic block with an unknown field",
    format: "anthropic",
    wire: { role: "user", content: [{ type: "text", text: "hi", cache_control: { type: "ephemeral" } }] },
    reads: {
      role: "user",
      content: [
        {
          type: "text",
          text: "hi",
          raw: { format: "anthropic", block: { type: "text", text: "hi", cache_control: { type: "ephemeral" } } },
        },
      ],
    },
  },
  {
    name: "an Anthropic compaction block",
    format: "anthropic",
    wire: { role: "assistant", content: [{ type: "compaction", content: null, encrypted_content: "ZW5j" }] },
    reads: {
      role: "assistant",
      content: [{ type: "compaction", encrypted: "ZW5j" }],
      wire: { format: "anthropic", fields: {} },
    },
  },
  {
    name: "a Chat Completions answer with a broken call",
    format: "openai-chat",
    wire: {
      role: "assistant",
      content: null,
      tool_calls: [{ id: "call_1", type: "function", function: { name: "read", arguments: '{"path": "a' } }],
    },
    reads: {
      role: "assistant",
      content: [{ type: "tool_call", callId: "call_1", name: "read", input: '{"path": "a', inputText: '{"path": "a' }],
    },
  },
  {
    name: "a Chat Completions answer with reasoning and text",
    format: "openai-chat",
    wire: { role: "assistant", content: "Yes.", reasoning_content: "Is it?", refusal: null },
    reads: {
      role: "assistant",
      content: [
        { type: "reasoning", text: "Is it?" },
        { type: "text", text: "Yes." },
      ],
      wire: { format: "openai-chat", fields: { refusal: null } },
    },
  },
  {
    name: "a Chat Completions developer message",
    format: "openai-chat",
    wire: { role: "developer", content: "Be brief." },
    reads: { role: "system", content: "Be brief.", wire: { format: "openai-chat", fields: { role: "developer" } } },
  },
  {
    name: "a Chat Completions image as bytes",
    format: "openai-chat",
    wire: { role: "user", content: [{ type: "image_url", image_url: { url: "data:image/png;base64,AA==" } }] },
    reads: {
      role: "user",
      content: [{ type: "image", source: { kind: "base64", data: "AA==" }, mediaType: "image/png" }],
    },
  },
  {
    name: "a Responses reasoning item",
    format: "openai-responses",
    wire: {
      type: "reasoning",
      id: "rs_1",
      summary: [{ type: "summary_text", text: "Thinking." }],
      encrypted_content: "ZW5j",
    },
    reads: {
      role: "assistant",
      content: [{ type: "reasoning", text: "Thinking.", encrypted: "ZW5j" }],
      wire: { format: "openai-responses", fields: { id: "rs_1" } },
    },
  },
  {
    name: "a Responses call whose arguments have spaces",
    format: "openai-responses",
    wire: {
      type: "function_call",
      id: "fc_1",
      call_id: "call_1",
      name: "sum",
      arguments: '{ "a": 1 }',
      status: "completed",
    },
    reads: {
      role: "assistant",
      content: [{ type: "tool_call", callId: "call_1", name: "sum", input: { a: 1 }, inputText: '{ "a": 1 }' }],
      wire: { format: "openai-responses", fields: { id: "fc_1", status: "completed" } },
    },
  },
  {
    name: "a Responses item of an unknown type",
    format: "openai-responses",
    wire: { type: "dream", id: "dr_1", images: [] },
    reads: {
      role: "assistant",
      content: [
        { type: "opaque", raw: { format: "openai-responses", block: { type: "dream", id: "dr_1", images: [] } } },
      ],
      wire: { format: "openai-responses", fields: { "varve:item": true } },
    },
  },
  {
    name: "a Gemini call without an id",
    format: "google",
    wire: { role: "model", parts: [{ functionCall: { name: "find", args: { q: "x" } } }] },
    reads: { role: "assistant", content: [{ type: "tool_call", callId: "find", name: "find", input: { q: "x" } }] },
  },
  {
    name: "a Gemini response",
    format: "google",
    wire: { role: "user", parts: [{ functionResponse: { id: "1", name: "find", response: { output: "y" } } }] },
    reads: { role: "tool", content: [{ type: "tool_result", callId: "1", name: "find", output: "y" }] },
  },
  {
    name: "a pi tool result with details",
    format: "pi",
    wire: {
      role: "toolResult",
      toolCallId: "t1",
      toolName: "edit",
      content: [{ type: "text", text: "done" }],
      details: { diff: "+1" },
      isError: false,
      timestamp: 1763681581544,
    },
    reads: {
      role: "tool",
      content: [
        { type: "tool_result", callId: "t1", name: "edit", output: [{ type: "text", text: "done" }], isError: false },
      ],
      time: 1763681581544,
      wire: { format: "pi", fields: { details: { diff: "+1" } } },
    },
  },
  {
    name: "a pi shell command of the user",
    format: "pi",
    wire: {
      role: "bashExecution",
      command: "ls",
      output: "a\nb",
      exitCode: 0,
      cancelled: false,
      truncated: false,
      timestamp: 5,
    },
    reads: {
      role: "user",
      content: "$ ls\na\nb",
      time: 5,
      wire: {
        format: "pi",
        fields: {
          role: "bashExecution",
          command: "ls",
          output: "a\nb",
          exitCode: 0,
          cancelled: false,
          truncated: false,
          "varve:omit": ["content"],
        },
      },
    },
  },
];

describe("reading and writing", () => {
  it.each(examples)("$name keeps its meaning and its exact form", ({ format, wire, reads }) => {
    deepStrictEqual(wireFormats[format].from(wire), reads);
    deepStrictEqual(wireFormats[format].to(reads), [wire]);
  });
});

describe("a message of one provider sent to another", () => {
  const { anthropic, google, pi } = wireFormats;
  const chat = wireFormats["openai-chat"];
  const responses = wireFormats["openai-responses"];
  const asked = anthropic.from({
    role: "assistant",
    content: [
      { type: "thinking", thinking: "secret", signature: "c2ln" },
      { type: "text", text: "I look." },
      { type: "tool_use", id: "t1", name: "read", input: { path: "a" } },
    ],
  });
  const answered = anthropic.from({
    role: "user",
    content: [
      { type: "tool_result", tool_use_id: "t1", content: "A" },
      { type: "tool_result", tool_use_id: "t2", content: [{ type: "text", text: "B" }] },
      { type: "text", text: "go on" },
    ],
  });

  it("turns an Anthropic call into tool_calls and omits the signed thinking", () => {
    expect(chat.to(asked)).toEqual([
      {
        role: "assistant",
        content: "I look.",
        tool_calls: [{ id: "t1", type: "function", function: { name: "read", arguments: '{"path":"a"}' } }],
      },
    ]);
    expect(responses.to(asked)).toEqual([
      { type: "message", role: "assistant", content: [{ type: "output_text", text: "I look." }] },
      { type: "function_call", call_id: "t1", name: "read", arguments: '{"path":"a"}' },
    ]);
    expect(google.to(asked)).toEqual([
      {
        role: "model",
        parts: [{ text: "I look." }, { functionCall: { id: "t1", name: "read", args: { path: "a" } } }],
      },
    ]);
  });

  it("turns results into one tool message each, followed by user content", () => {
    expect(chat.to(answered)).toEqual([
      { role: "tool", tool_call_id: "t1", content: "A" },
      { role: "tool", tool_call_id: "t2", content: [{ type: "text", text: "B" }] },
      { role: "user", content: [{ type: "text", text: "go on" }] },
    ]);
    expect(pi.to(answered).map((wire) => wire.role)).toEqual(["toolResult", "toolResult", "user"]);
  });

  it("turns an OpenAI tool message into an Anthropic user message", () => {
    const message = chat.from({ role: "tool", tool_call_id: "c1", content: "42" });
    expect(message.role).toBe("tool");
    expect(anthropic.to(message)).toEqual([
      { role: "user", content: [{ type: "tool_result", tool_use_id: "c1", content: "42" }] },
    ]);
  });

  it("gives an Anthropic call an object even when the arguments are invalid", () => {
    const call = { id: "c1", type: "function", function: { name: "f", arguments: "{oops" } };
    const message = chat.from({ role: "assistant", content: null, tool_calls: [call] });
    expect(anthropic.to(message)).toEqual([
      { role: "assistant", content: [{ type: "tool_use", id: "c1", name: "f", input: { input: "{oops" } }] },
    ]);
  });

  it("returns a pi message's signature only to the API that made it", () => {
    const content = [{ type: "thinking", thinking: "hm", thinkingSignature: "c2ln" }];
    const signed = pi.from({ role: "assistant", content, api: "anthropic-messages", timestamp: 1 });
    expect(anthropic.to(signed)).toEqual([
      { role: "assistant", content: [{ type: "thinking", thinking: "hm", signature: "c2ln" }] },
    ]);
    expect(google.to(signed)).toEqual([]);
  });

  it("omits calls of hosted tools", () => {
    const searched = anthropic.from({
      role: "assistant",
      content: [
        { type: "server_tool_use", id: "s1", name: "web_search", input: { query: "x" } },
        { type: "web_search_tool_result", tool_use_id: "s1", content: [{ type: "web_search_result", url: "u" }] },
        { type: "text", text: "Found." },
      ],
    });
    expect(chat.to(searched)).toEqual([{ role: "assistant", content: "Found." }]);
    expect(responses.to(searched)).toHaveLength(1);
  });

  it("splits an answer that contains a result", () => {
    const mixed: Message = {
      role: "assistant",
      content: [
        { type: "tool_call", callId: "1", name: "f", input: {} },
        { type: "tool_result", callId: "1", output: "r" },
        { type: "text", text: "done" },
      ],
    };
    expect(anthropic.to(mixed).map((wire) => wire.role)).toEqual(["assistant", "user", "assistant"]);
    expect(google.to(mixed).map((wire) => wire.role)).toEqual(["model", "user", "model"]);
    expect(chat.to(mixed).map((wire) => wire.role)).toEqual(["assistant", "tool", "assistant"]);
    expect(responses.to(mixed).map((wire) => wire.type)).toEqual(["function_call", "function_call_output", "message"]);
  });

  it("adds the fields that pi requires", () => {
    expect(pi.to({ role: "assistant", content: "hi", time: 7 })).toMatchObject([
      {
        role: "assistant",
        content: [{ type: "text", text: "hi" }],
        stopReason: "stop",
        usage: { input: 0 },
        timestamp: 7,
      },
    ]);
  });
});

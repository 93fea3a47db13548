import { expect, it } from "vitest";
import { ReplyAssembler } from "./reply-assembler.ts";

const from = { provider: "anthropic", model: "m" };

it("assembles a reply in order, with the signatures of its provider", () => {
  const said = new ReplyAssembler();
  said.add({ type: "reasoning-start", id: "0" });
  said.add({ type: "reasoning-delta", id: "0", delta: "First " });
  said.add({ type: "text-start", id: "0" });
  said.add({ type: "reasoning-delta", id: "0", delta: "a look." });
  said.add({ type: "reasoning-end", id: "0", providerMetadata: { anthropic: { signature: "s" } } });
  said.add({ type: "text-delta", id: "0", delta: "One " });
  said.add({ type: "text-delta", id: "0", delta: "moment." });
  said.add({ type: "text-end", id: "0" });
  said.add({ type: "text-start", id: "0" });
  said.add({ type: "text-end", id: "0" });
  said.add({
    type: "tool-call",
    toolCallId: "c1",
    toolName: "look",
    input: '{"at":1}',
    providerMetadata: { google: { thoughtSignature: "t" } },
  });
  expect(said.toMessage(from)).toEqual({
    role: "assistant",
    content: [
      { type: "reasoning", text: "First a look.", signature: "s" },
      { type: "text", text: "One moment." },
      { type: "tool_call", callId: "c1", name: "look", input: { at: 1 } },
    ],
    ...from,
    meta: { providerOptions: { c1: { google: { thoughtSignature: "t" } } } },
  });
});

it("keeps redacted reasoning, and calls whose input is not JSON", () => {
  const said = new ReplyAssembler();
  said.add({ type: "reasoning-start", id: "0", providerMetadata: { anthropic: { redactedData: "x" } } });
  said.add({ type: "reasoning-end", id: "0" });
  said.add({ type: "tool-call", toolCallId: "c1", toolName: "look", input: "" });
  said.add({ type: "tool-call", toolCallId: "c2", toolName: "look", input: '{"at":' });
  expect(said.toMessage(from).content).toEqual([
    { type: "reasoning", text: "", encrypted: "x" },
    { type: "tool_call", callId: "c1", name: "look", input: {} },
    { type: "tool_call", callId: "c2", name: "look", input: {} },
  ]);
});

import { expect, it } from "vitest";
import type { Message } from "../../domain/index.ts";
import { toSdkPrompt } from "./sdk-prompt.ts";

const model = { supportedUrls: { "image/*": [/^https:\/\/.*$/] } };
const convert = (...messages: Message[]) => toSdkPrompt({ system: "Be brief.", messages }, model);

it("puts the results of a step into one message, with the names of their calls", async () => {
  const call = (callId: string) => ({ type: "tool_call" as const, callId, name: "look", input: { at: callId } });
  const result = (callId: string): Message => ({
    role: "tool",
    content: [{ type: "tool_result", callId, output: "ok" }],
  });
  const prompt = await convert({ role: "assistant", content: [call("a"), call("b")] }, result("a"), result("b"));
  expect(prompt).toMatchObject([
    { role: "system", content: "Be brief." },
    { role: "assistant", content: [{ toolCallId: "a" }, { toolCallId: "b" }] },
    {
      role: "tool",
      content: [
        { toolCallId: "a", toolName: "look" },
        { toolCallId: "b", toolName: "look" },
      ],
    },
  ]);
});

it("passes on URLs that the provider fetches, and corrects the media type of inline images", async () => {
  const jpeg = "/9j/4AAQSkZJRgABAQ";
  const prompt = await convert({
    role: "user",
    content: [
      { type: "image", source: { kind: "url", url: "https://example.org/a.png" } },
      { type: "image", source: { kind: "base64", data: jpeg }, mediaType: "image/png" },
      { type: "file", source: { kind: "url", url: "data:text/csv;base64,YSxi" }, name: "a.csv" },
      { type: "text", text: "" },
    ],
  });
  expect(prompt[1]).toEqual({
    role: "user",
    content: [
      { type: "file", data: { type: "url", url: new URL("https://example.org/a.png") }, mediaType: "image/png" },
      { type: "file", data: { type: "data", data: jpeg }, mediaType: "image/jpeg" },
      { type: "file", data: { type: "data", data: "YSxi" }, mediaType: "text/csv", filename: "a.csv" },
    ],
  });
});

it("refuses to download from this machine", async () => {
  const content: Message["content"] = [{ type: "file", source: { kind: "url", url: "http://127.0.0.1:9/secret" } }];
  await expect(convert({ role: "user", content })).rejects.toThrow(/127\.0\.0\.1/);
});

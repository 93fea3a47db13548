import { describe, expect, it } from "vitest";
import {
  fromAnthropic,
  fromGoogle,
  fromOpenaiChat,
  fromOpenaiResponses,
  getParts,
  type Message,
  toGoogle,
  toOpenaiChat,
} from "../../domain/index.ts";
import type { HygieneProvider } from "./changes.ts";
import { cleanForProvider } from "./clean.ts";

const user = (text: string, more: Partial<Message> = {}): Message => ({ role: "user", content: text, ...more });
const call = (id: string, more: Partial<Message> = {}): Message => ({
  role: "assistant",
  content: [{ type: "tool_call", callId: id, name: "f", input: { a: 1 } }],
  ...more,
});
const result = (id: string, output = `out ${id}`): Message => ({
  role: "tool",
  content: [{ type: "tool_result", callId: id, output }],
});
const clean = (messages: Message[], provider: HygieneProvider = "openai") => cleanForProvider(messages, provider);
const rules = (messages: Message[], provider?: HygieneProvider) =>
  clean(messages, provider).changes.map((change) => change.rule);

describe("for every provider", () => {
  it("a clean conversation is returned as the same message objects", () => {
    const messages = [user("hi"), call("a"), result("a"), { role: "assistant", content: "done" } as Message];
    const cleaned = clean(messages);
    expect(cleaned.changes).toEqual([]);
    expect(cleaned.messages.every((message, index) => message === messages[index])).toBe(true);
  });

  it("drops blank blocks and blank messages, and says which", () => {
    const messages: Message[] = [
      user(" "),
      {
        id: "m1",
        role: "assistant",
        content: [
          { type: "text", text: "\n" },
          { type: "text", text: "yes" },
        ],
      },
      { role: "user", content: [] },
    ];
    expect(clean(messages).messages).toEqual([
      { id: "m1", role: "assistant", content: [{ type: "text", text: "yes" }] },
    ]);
    expect(clean(messages).changes).toContainEqual({ rule: "blank-block", messageId: "m1", detail: "a blank text" });
  });

  it("moves a late result after its call", () => {
    expect(clean([call("a"), user("wait"), result("a")]).messages).toEqual([call("a"), result("a"), user("wait")]);
    expect(rules([call("a"), user("wait"), result("a")])).toEqual(["displaced-result"]);
  });

  it("moves an early result after its call", () => {
    expect(clean([result("a"), call("a")]).messages).toEqual([call("a"), result("a")]);
  });

  it("gives a call without a result one error result", () => {
    const { messages } = clean([call("a"), user("well?")]);
    expect(messages[1]).toMatchObject({ role: "tool", content: [{ callId: "a", name: "f", isError: true }] });
    expect(clean(messages).messages).toEqual(messages);
  });

  it("drops results that nobody asked for and results that came twice", () => {
    const messages = [result("z"), call("a"), result("a"), result("a", "again")];
    expect(clean(messages).messages).toEqual([call("a"), result("a")]);
    expect(rules(messages).toSorted()).toEqual(["duplicate-result", "orphan-result"]);
  });

  it("pairs calls that share an id by turn and order", () => {
    const twice: Message = { role: "assistant", content: [...(call("f").content as []), ...(call("f").content as [])] };
    const messages = [
      call("f"),
      result("f", "1"),
      twice,
      result("f", "2"),
      result("f", "3"),
      call("f"),
      result("f", "4"),
    ];
    expect(clean(messages)).toEqual({ messages, changes: [] });
  });

  it("does not give an unanswered call the result of a later one", () => {
    const { messages } = clean([call("f"), user("go on"), call("f"), result("f", "second")]);
    expect(messages.map((message) => message.role)).toEqual(["assistant", "tool", "user", "assistant", "tool"]);
    expect(messages[4]).toEqual(result("f", "second"));
  });

  it("drops the calls of an aborted turn together with their results", () => {
    const messages = [call("a", { stopReason: "aborted" }), result("a"), user("again")];
    expect(clean(messages).messages).toEqual([user("again")]);
    expect(rules(messages)).toEqual(["aborted-call", "orphan-result"]);
  });

  it("drops calls without input, but not calls whose input is empty", () => {
    const empty: Message = { role: "assistant", content: [{ type: "tool_call", callId: "a", name: "f", input: {} }] };
    const none: Message = { role: "assistant", content: [{ type: "tool_call", callId: "b", name: "f", input: null }] };
    expect(clean([empty, result("a"), none]).messages).toEqual([empty, result("a")]);
  });

  it("keeps user content that follows the results in the same message", () => {
    const mixed = fromAnthropic({
      role: "user",
      content: [
        { type: "tool_result", tool_use_id: "a", content: "x" },
        { type: "text", text: "and hurry" },
      ],
    });
    expect(clean([call("a"), mixed], "anthropic")).toEqual({ messages: [call("a"), mixed], changes: [] });
  });

  it("splits an answer that contains its own results", () => {
    const messages: Message[] = [
      {
        role: "assistant",
        content: [...(call("a").content as []), ...(result("a").content as []), { type: "text", text: "so" }],
      },
    ];
    expect(clean(messages).messages.map((message) => message.role)).toEqual(["assistant", "tool", "assistant"]);
  });

  it("leaves hosted tools of the provider alone", () => {
    const searched = fromAnthropic({
      role: "assistant",
      content: [
        { type: "server_tool_use", id: "s", name: "web_search", input: {} },
        { type: "web_search_tool_result", tool_use_id: "s", content: [] },
        { type: "text", text: "found" },
      ],
    });
    expect(clean([user("?"), searched], "anthropic")).toEqual({ messages: [user("?"), searched], changes: [] });
  });
});

describe("for Anthropic", () => {
  const thinking = (signature?: string, more: Partial<Message> = {}): Message => ({
    role: "assistant",
    content: [
      { type: "reasoning", text: "hm", ...(signature === undefined ? {} : { signature }) },
      { type: "text", text: "ok" },
    ],
    ...more,
  });

  it("merges user messages, and drops reasoning that is unsigned or from another provider", () => {
    const foreign = fromGoogle({
      role: "model",
      parts: [{ text: "hm", thought: true, thoughtSignature: "g" }, { text: "yo" }],
    });
    const { messages, changes } = clean([user("a"), thinking(), foreign, user("b"), user("c")], "anthropic");
    expect(messages.map((message) => message.content)).toEqual([
      "a",
      [{ type: "text", text: "ok" }],
      [{ type: "text", text: "yo" }],
      [
        { type: "text", text: "b" },
        { type: "text", text: "c" },
      ],
    ]);
    expect(changes.map((change) => change.rule)).toEqual(["foreign-reasoning", "unsigned-reasoning", "merged-turns"]);
  });

  it("drops signed reasoning from before the last compaction, and keeps later reasoning", () => {
    const messages = [thinking("s", { time: 10 }), user("go"), thinking("s", { time: 30 }), user("on")];
    const cleaned = cleanForProvider(messages, "anthropic", { compactedBefore: 20 }).messages;
    expect(cleaned[0]?.content).toEqual([{ type: "text", text: "ok" }]);
    expect(cleaned[2]).toBe(messages[2]);
  });

  it("drops reasoning from a trailing assistant message", () => {
    expect(clean([user("a"), thinking("s")], "anthropic").messages.at(-1)?.content).toEqual([
      { type: "text", text: "ok" },
    ]);
  });
});

describe("for Google", () => {
  it("makes ids alphanumeric, turns alternate, and a user turn first", () => {
    const { messages } = clean([call("call_1-a"), result("call_1-a"), user("more"), user("please")], "google");
    expect(messages.flatMap((message) => toGoogle(message)).map((content) => content.role)).toEqual([
      "user",
      "model",
      "user",
    ]);
    expect(JSON.stringify(messages)).not.toContain('"callId":"call_1-a"');
    expect(clean(messages, "google")).toEqual({ messages, changes: [] });
  });

  it("keeps the signature of a call whose id changes, and the name where there is no id", () => {
    const part = { functionCall: { id: "c-1", name: "find_it", args: {} }, thoughtSignature: "s" };
    const signed = fromGoogle({ role: "model", parts: [part, { functionCall: { name: "find_it", args: {} } }] });
    const { messages } = clean([user("x"), signed], "google");
    expect(toGoogle(messages[1] as Message)[0]?.parts).toEqual([
      { functionCall: { id: "c1", name: "find_it", args: {} }, thoughtSignature: "s" },
      { functionCall: { name: "find_it", args: {} } },
    ]);
  });

  it("keeps two ids distinct", () => {
    const { messages } = clean(
      [user("x"), call("a-b"), result("a-b", "1"), call("ab"), result("ab", "2"), call("a_b"), result("a_b", "3")],
      "google",
    );
    const ids = messages.flatMap((message) =>
      getParts(message).map((part) => (part.type === "tool_call" ? part.callId : undefined)),
    );
    expect(new Set(ids.filter((id) => id !== undefined)).size).toBe(3);
  });
});

describe("for Mistral", () => {
  it("makes ids of nine characters, the same for a call and its result", () => {
    const { messages } = clean([call("toolu_1"), result("toolu_1"), call("abcdefghi"), result("abcdefghi")], "mistral");
    const ids = messages.flatMap((message) => toOpenaiChat(message)).map((wire) => wire.tool_call_id ?? null);
    expect(ids[1]).toMatch(/^[a-z0-9]{9}$/);
    expect(ids[3]).toBe("abcdefghi");
  });
});

describe("for OpenAI", () => {
  const reasoning = fromOpenaiResponses({ type: "reasoning", id: "rs_1", summary: [], encrypted_content: "e" });
  const called = fromOpenaiResponses({ type: "function_call", id: "fc_1", call_id: "c", name: "f", arguments: "{}" });

  it("keeps encrypted reasoning with the call it belongs to, including ids", () => {
    const messages = [user("x"), reasoning, called, result("c")];
    expect(clean(messages)).toEqual({ messages, changes: [] });
  });

  it("drops reasoning that nothing follows", () => {
    expect(rules([user("x"), reasoning, user("y")])).toEqual(["orphan-reasoning"]);
    expect(rules([user("x"), reasoning, { ...called, stopReason: "aborted" }])).toEqual([
      "aborted-call",
      "orphan-reasoning",
    ]);
  });

  it("drops all reasoning for servers that imitate the API", () => {
    const thought = fromOpenaiChat({
      role: "assistant",
      content: "ok",
      reasoning: "hm",
      reasoning_details: [{}],
      refusal: null,
    });
    const { messages } = clean([user("x"), thought], "openai-compatible");
    const sent = messages.flatMap((message) => toOpenaiChat(message));
    expect(sent).toHaveLength(2);
    expect(JSON.stringify(sent)).not.toContain("reasoning");
  });
});

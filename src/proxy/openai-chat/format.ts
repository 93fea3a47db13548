import { fromOpenaiChat, type JsonObject, type JsonValue, type Message } from "../../domain/index.ts";
import { addNumbers, printCanonical, readNumber, readObject, readObjects, readString } from "../json.ts";
import { countInstructions, createOpenaiError, parseArguments } from "../openai-wire.ts";
import { printSseEvent } from "../sse.ts";
import type { Call, Format, ParsedRequest, Replacement, Reply } from "../wire.ts";
import { betweenReplies, chatEditor } from "./editor.ts";
import { chatReader } from "./reader.ts";

/** OpenAI's Chat Completions API, which many other servers support. */
export const chatFormat: Format = {
  id: "openai-chat",
  parse: parseRequest,
  identity: ({ wires }) => wires.map(identifyMessage),
  messages: ({ wires }) => wires.map((wire): Message => fromOpenaiChat(wire)),
  compose,
  results: (answered) => ({
    wires: answered.map(({ id, output }) => ({ role: "tool", tool_call_id: id, content: output })),
  }),
  join: (results, next) => [results, next],
  reader: chatReader,
  read,
  merge,
  editor: chatEditor,
  error: createOpenaiError,
  errorEvent: (message) => printSseEvent({ data: JSON.stringify(createOpenaiError(500, message)) }),
};

function parseRequest(body: JsonObject): ParsedRequest | undefined {
  if (!Array.isArray(body.messages)) return undefined;
  const wires = readObjects(body.messages);
  if (wires.length !== body.messages.length || wires.some(({ role }) => typeof role !== "string")) return undefined;
  const length = countInstructions(wires);
  if (length === wires.length) return undefined;
  const maxTokens = body.max_completion_tokens ?? body.max_tokens;
  const tools = readObjects(body.tools).map(
    (tool) => readString(readObject(tool.function).name) ?? readString(tool.name),
  );
  return {
    model: readString(body.model) ?? "",
    stream: body.stream === true,
    ...(typeof maxTokens === "number" ? { maxTokens } : {}),
    units: wires.slice(length).map((wire) => ({ wires: [wire] })),
    fixedText: JSON.stringify([wires.slice(0, length), body.tools ?? null, body.response_format ?? null]),
    toolNames: new Set(tools.flatMap((name) => name ?? [])),
    mayOffer: (body.n ?? 1) === 1 && body.functions === undefined,
  };
}

function identifyMessage(wire: JsonObject): JsonValue {
  const calls = readObjects(wire.tool_calls).map((call) => {
    const called = readObject(call.function ?? call.custom);
    return [
      readString(call.id) ?? "",
      readString(called.name) ?? "",
      readString(called.arguments ?? called.input) ?? "",
    ];
  });
  return [readString(wire.role) ?? "", readString(wire.tool_call_id) ?? "", ...readTexts(wire.content), ...calls];
}

function readTexts(content: JsonValue | undefined): JsonValue[] {
  if (typeof content === "string") return content === "" ? [] : [content];
  return readObjects(content).map((block) =>
    block.type === "text" ? (readString(block.text) ?? "") : printCanonical(block),
  );
}

function compose(body: JsonObject, { summary, addition, units, tools, withheld }: Replacement): JsonObject {
  const wires = readObjects(body.messages);
  const head = wires.slice(0, countInstructions(wires));
  const role = readString(head.at(-1)?.role) ?? "system";
  const composed: JsonObject = {
    ...body,
    messages: [
      ...head,
      ...(addition === undefined ? [] : [{ role, content: addition }]),
      ...(summary === "" ? [] : [{ role: "user", content: summary }]),
      ...units.flatMap((unit) => unit.wires),
    ],
  };
  const own = readObjects(body.tools);
  if (tools.length === 0 || (withheld && own.length > 0)) return composed;
  composed.tools = [
    ...own,
    ...tools.map(({ name, description, schema }) => ({
      type: "function",
      function: { name, description, parameters: schema },
    })),
  ];
  if (withheld) composed.tool_choice = "none";
  return composed;
}

function readChoice(body: JsonObject | undefined): JsonObject {
  return readObjects(body?.choices)[0] ?? {};
}

function read(body: JsonObject): Reply | undefined {
  const choice = readChoice(body);
  const message = readObject(choice.message);
  if (message.role !== "assistant") return undefined;
  const usage = readObject(body.usage);
  const input = readNumber(usage.prompt_tokens);
  return {
    unit: { wires: [message] },
    calls: readObjects(message.tool_calls).map(readCall),
    ...(input > 0 ? { usage: { input, output: readNumber(usage.completion_tokens) } } : {}),
    isTruncated: choice.finish_reason === "length",
  };
}

function readCall(call: JsonObject): Call {
  const called = readObject(call.function ?? call.custom);
  return {
    id: readString(call.id) ?? "",
    name: readString(called.name) ?? "",
    input: parseArguments(readString(called.arguments ?? called.input) ?? ""),
  };
}

function merge(bodies: readonly JsonObject[], ours: ReadonlySet<string>): JsonObject {
  const last = bodies.at(-1) ?? {};
  const choice = readChoice(last);
  const messages = bodies.map((body) => readObject(readChoice(body).message));
  const calls = messages
    .flatMap((message) => readObjects(message.tool_calls))
    .filter((call) => !ours.has(readCall(call).name));
  const texts = messages.map(({ content }) => readString(content) ?? "").filter((text) => text !== "");
  const { tool_calls: _, ...message } = messages.at(-1) ?? {};
  const isAnswered = choice.finish_reason === "tool_calls" && calls.length === 0;
  const usage = bodies
    .map((body) => body.usage)
    .reduce((sum, one) => (sum && one ? addNumbers(sum, one) : (one ?? sum)));
  return {
    ...last,
    ...(typeof bodies[0]?.id === "string" ? { id: bodies[0].id } : {}),
    choices: [
      {
        ...choice,
        message: {
          ...message,
          ...(bodies.length > 1 ? { content: texts.length === 0 ? null : texts.join(betweenReplies) } : {}),
          ...(calls.length === 0 ? {} : { tool_calls: calls }),
        },
        ...(isAnswered ? { finish_reason: "stop" } : {}),
      },
    ],
    ...(usage === undefined ? {} : { usage }),
  };
}

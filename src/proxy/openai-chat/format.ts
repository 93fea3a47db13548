import { fromOpenaiChat, type JsonObject, type JsonValue, type Message } from "../../domain/index.ts";
import { added, canonical, numberOf, objectOf, objectsOf, stringOf } from "../json.ts";
import { openaiError } from "../openai-error.ts";
import { writeEvent } from "../sse.ts";
import type { Call, Format, Opened, Replacement, Reply } from "../wire.ts";
import { betweenReplies } from "./between-replies.ts";
import { chatEditor } from "./editor.ts";
import { chatReader } from "./reader.ts";

/** OpenAI's Chat Completions API, and that of the many servers that speak it. */
export const chatFormat: Format = {
  id: "openai-chat",
  open,
  identity: ({ wires }) => wires.map(identityOf),
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
  error: openaiError,
  errorEvent: (message) => writeEvent({ data: JSON.stringify(openaiError(500, message)) }),
};

function isInstruction({ role }: JsonObject): boolean {
  return role === "system" || role === "developer";
}

/** The instructions a conversation begins with; they are no part of what may be replaced. */
function headLength(wires: readonly JsonObject[]): number {
  const end = wires.findIndex((wire) => !isInstruction(wire));
  return end === -1 ? wires.length : end;
}

function open(body: JsonObject): Opened | undefined {
  if (!Array.isArray(body.messages)) return undefined;
  const wires = objectsOf(body.messages);
  if (wires.length !== body.messages.length || wires.some(({ role }) => typeof role !== "string")) return undefined;
  const length = headLength(wires);
  if (length === wires.length) return undefined;
  const maxTokens = body.max_completion_tokens ?? body.max_tokens;
  const tools = objectsOf(body.tools).map((tool) => stringOf(objectOf(tool.function).name) ?? stringOf(tool.name));
  return {
    model: stringOf(body.model) ?? "",
    stream: body.stream === true,
    ...(typeof maxTokens === "number" ? { maxTokens } : {}),
    units: wires.slice(length).map((wire) => ({ wires: [wire] })),
    fixedText: JSON.stringify([wires.slice(0, length), body.tools ?? null, body.response_format ?? null]),
    toolNames: new Set(tools.flatMap((name) => name ?? [])),
    mayOffer: (body.n ?? 1) === 1 && body.functions === undefined,
  };
}

function identityOf(wire: JsonObject): JsonValue {
  const calls = objectsOf(wire.tool_calls).map((call) => {
    const called = objectOf(call.function ?? call.custom);
    return [stringOf(call.id) ?? "", stringOf(called.name) ?? "", stringOf(called.arguments ?? called.input) ?? ""];
  });
  return [stringOf(wire.role) ?? "", stringOf(wire.tool_call_id) ?? "", ...textsOf(wire.content), ...calls];
}

function textsOf(content: JsonValue | undefined): JsonValue[] {
  if (typeof content === "string") return content === "" ? [] : [content];
  return objectsOf(content).map((block) => (block.type === "text" ? (stringOf(block.text) ?? "") : canonical(block)));
}

function compose(body: JsonObject, { summary, addition, units, tools, withheld }: Replacement): JsonObject {
  const wires = objectsOf(body.messages);
  const head = wires.slice(0, headLength(wires));
  const role = stringOf(head.at(-1)?.role) ?? "system";
  const composed: JsonObject = {
    ...body,
    messages: [
      ...head,
      ...(addition === undefined ? [] : [{ role, content: addition }]),
      ...(summary === "" ? [] : [{ role: "user", content: summary }]),
      ...units.flatMap((unit) => unit.wires),
    ],
  };
  const own = objectsOf(body.tools);
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

function choiceOf(body: JsonObject | undefined): JsonObject {
  return objectsOf(body?.choices)[0] ?? {};
}

function read(body: JsonObject): Reply | undefined {
  const choice = choiceOf(body);
  const message = objectOf(choice.message);
  if (message.role !== "assistant") return undefined;
  const usage = objectOf(body.usage);
  const input = numberOf(usage.prompt_tokens);
  return {
    unit: { wires: [message] },
    calls: objectsOf(message.tool_calls).map(callOf),
    ...(input > 0 ? { usage: { input, output: numberOf(usage.completion_tokens) } } : {}),
    isCut: choice.finish_reason === "length",
  };
}

function callOf(call: JsonObject): Call {
  const called = objectOf(call.function ?? call.custom);
  return {
    id: stringOf(call.id) ?? "",
    name: stringOf(called.name) ?? "",
    input: inputOf(stringOf(called.arguments ?? called.input) ?? ""),
  };
}

export function inputOf(text: string): JsonValue {
  try {
    return text === "" ? {} : (JSON.parse(text) as JsonValue);
  } catch {
    // The tool says what is wrong with what it is given.
    return text;
  }
}

function merge(bodies: readonly JsonObject[], ours: ReadonlySet<string>): JsonObject {
  const last = bodies.at(-1) ?? {};
  const choice = choiceOf(last);
  const messages = bodies.map((body) => objectOf(choiceOf(body).message));
  const calls = messages
    .flatMap((message) => objectsOf(message.tool_calls))
    .filter((call) => !ours.has(callOf(call).name));
  const texts = messages.map(({ content }) => stringOf(content) ?? "").filter((text) => text !== "");
  const { tool_calls: _, ...message } = messages.at(-1) ?? {};
  const isAnswered = choice.finish_reason === "tool_calls" && calls.length === 0;
  const usage = bodies.map((body) => body.usage).reduce((sum, one) => (sum && one ? added(sum, one) : (one ?? sum)));
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

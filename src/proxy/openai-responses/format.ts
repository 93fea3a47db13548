import { fromOpenaiResponses, type JsonObject, type JsonValue, type Message } from "../../domain/index.ts";
import { addNumbers, parseObject, printCanonical, readNumber, readObjects, readString } from "../json.ts";
import { countInstructions, createOpenaiError, parseArguments } from "../openai-wire.ts";
import { printSseEvent } from "../sse.ts";
import type { Call, Format, ParsedRequest, Replacement, Reply, Unit } from "../wire.ts";
import { isStartEvent, responsesEditor } from "./editor.ts";
import { responsesReader } from "./reader.ts";

/** OpenAI's Responses API, where a conversation is a list of items and a reply is several of them. */
export const responsesFormat: Format = {
  id: "openai-responses",
  parse: parseRequest,
  identity: ({ wires }) => {
    const lasting = wires.filter(({ type }) => type !== "reasoning");
    return (lasting.length > 0 ? lasting : wires).map(identifyItem);
  },
  messages: ({ wires }) => wires.map((wire): Message => fromOpenaiResponses(wire)),
  compose,
  results: (answered) => ({
    wires: answered.map(({ id, output }) => ({ type: "function_call_output", call_id: id, output })),
  }),
  join: (results, next) => [results, next],
  judge({ data }) {
    const event = parseObject(data);
    const type = readString(event?.type) ?? "";
    if (isStartEvent(type)) return undefined;
    return type === "response.failed" || type === "error" ? { refusal: data } : {};
  },
  reader: responsesReader,
  read,
  merge: mergeResponses,
  editor: (ours) => responsesEditor(ours, mergeResponses),
  error: createOpenaiError,
  errorEvent: (message) =>
    printSseEvent({
      event: "error",
      data: JSON.stringify({ type: "error", code: "server_error", message, param: null }),
    }),
};

function readItems(input: JsonValue | undefined): JsonObject[] | undefined {
  if (typeof input === "string") return [{ role: "user", content: input }];
  if (!Array.isArray(input)) return undefined;
  const items = readObjects(input);
  return items.length === input.length ? items : undefined;
}

/** Returns undefined for conversations that the provider stores: their requests contain only the newest items. */
function parseRequest(body: JsonObject): ParsedRequest | undefined {
  if (isGiven(body.previous_response_id) || isGiven(body.conversation) || isGiven(body.prompt)) return undefined;
  const items = readItems(body.input);
  if (items === undefined) return undefined;
  const length = countInstructions(items);
  if (length === items.length) return undefined;
  return {
    model: readString(body.model) ?? "",
    stream: body.stream === true,
    ...(typeof body.max_output_tokens === "number" ? { maxTokens: body.max_output_tokens } : {}),
    units: groupItems(items.slice(length)),
    fixedText: JSON.stringify([body.instructions ?? null, items.slice(0, length), body.tools ?? null]),
    toolNames: new Set(readObjects(body.tools).flatMap((tool) => readString(tool.name) ?? [])),
    mayOffer: true,
  };
}

function isGiven(value: JsonValue | undefined): boolean {
  return value !== undefined && value !== null;
}

/** Groups the items of a reply into one unit: reasoning must not be separated from the calls that follow it. */
function groupItems(items: readonly JsonObject[]): Unit[] {
  const units: Unit[] = [];
  let isReply = false;
  for (const item of items) {
    const isReplyItem = belongsToReply(item);
    const last = units.at(-1);
    if (isReplyItem && isReply && last) last.wires.push(item);
    else units.push({ wires: [item] });
    isReply = isReplyItem;
  }
  return units;
}

function belongsToReply(item: JsonObject): boolean {
  const type = readString(item.type) ?? "message";
  return type === "message" ? item.role === "assistant" : type === "reasoning" || type.endsWith("_call");
}

function identifyItem(item: JsonObject): JsonValue {
  const type = readString(item.type) ?? "message";
  if (type === "message") return [readString(item.role) ?? "", ...readTexts(item.content)];
  if (type === "function_call") {
    return [type, readString(item.call_id) ?? "", readString(item.name) ?? "", readString(item.arguments) ?? ""];
  }
  const { id: _, status: __, ...rest } = item;
  return printCanonical(rest);
}

function readTexts(content: JsonValue | undefined): JsonValue[] {
  if (typeof content === "string") return [content];
  return readObjects(content).map((block) => (typeof block.text === "string" ? block.text : printCanonical(block)));
}

function compose(body: JsonObject, { summary, addition, units, tools, withheld }: Replacement): JsonObject {
  const items = readItems(body.input) ?? [];
  const instructions = [readString(body.instructions), addition].filter((text) => text !== undefined && text !== "");
  const sent = units.flatMap(({ wires }) => wires);
  const composed: JsonObject = {
    ...body,
    ...(instructions.length === 0 ? {} : { instructions: instructions.join("\n\n") }),
    input: [
      ...items.slice(0, countInstructions(items)),
      ...(summary === "" ? [] : [{ role: "user", content: summary }]),
      ...(body.store === false ? sent.filter(isComplete) : sent),
    ],
  };
  const own = readObjects(body.tools);
  if (tools.length === 0 || (withheld && own.length > 0)) return composed;
  composed.tools = [
    ...own,
    ...tools.map(({ name, description, schema }) => ({
      type: "function",
      name,
      description,
      parameters: schema,
      strict: false,
    })),
  ];
  if (withheld) composed.tool_choice = "none";
  return composed;
}

/** Reasoning that the provider does not store can be sent back only with its encrypted content. */
function isComplete(item: JsonObject): boolean {
  return item.type !== "reasoning" || isGiven(item.encrypted_content);
}

function read(body: JsonObject): Reply | undefined {
  if (!Array.isArray(body.output) || body.status === "failed") return undefined;
  const items = readObjects(body.output);
  const usage = typeof body.usage === "object" && body.usage !== null && !Array.isArray(body.usage) ? body.usage : {};
  const input = readNumber(usage.input_tokens);
  return {
    unit: { wires: items },
    calls: items.filter(({ type }) => type === "function_call" || type === "custom_tool_call").map(readCall),
    ...(input > 0 ? { usage: { input, output: readNumber(usage.output_tokens) } } : {}),
    isTruncated: body.status === "incomplete",
  };
}

function readCall(item: JsonObject): Call {
  const text = readString(item.arguments) ?? "";
  return { id: readString(item.call_id) ?? "", name: readString(item.name) ?? "", input: parseArguments(text) };
}

function mergeResponses(bodies: readonly JsonObject[], ours: ReadonlySet<string>): JsonObject {
  const output = bodies
    .flatMap((body) => readObjects(body.output))
    .filter((item) => !(item.type === "function_call" && ours.has(readString(item.name) ?? "")));
  const usage = bodies
    .map((body) => body.usage)
    .reduce((sum, one) => (sum && one ? addNumbers(sum, one) : (one ?? sum)));
  return { ...bodies.at(-1), output, ...(usage === undefined ? {} : { usage }) };
}

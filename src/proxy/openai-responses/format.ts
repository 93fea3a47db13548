import { fromOpenaiResponses, type JsonObject, type JsonValue, type Message } from "../../domain/index.ts";
import { added, canonical, numberOf, objectsOf, parseObject, stringOf } from "../json.ts";
import { openaiError } from "../openai-error.ts";
import { writeEvent } from "../sse.ts";
import type { Call, Format, Opened, Replacement, Reply, Unit } from "../wire.ts";
import { isBeginning, responsesEditor } from "./editor.ts";
import { responsesReader } from "./reader.ts";

/** OpenAI's Responses API, where a conversation is a list of items and a reply is several of them. */
export const responsesFormat: Format = {
  id: "openai-responses",
  open,
  identity: ({ wires }) => {
    const said = wires.filter(({ type }) => type !== "reasoning");
    return (said.length > 0 ? said : wires).map(identityOf);
  },
  messages: ({ wires }) => wires.map((wire): Message => fromOpenaiResponses(wire)),
  compose,
  results: (answered) => ({
    wires: answered.map(({ id, output }) => ({ type: "function_call_output", call_id: id, output })),
  }),
  join: (results, next) => [results, next],
  judge({ data }) {
    const event = parseObject(data);
    const type = stringOf(event?.type) ?? "";
    if (isBeginning(type)) return undefined;
    return type === "response.failed" || type === "error" ? { refusal: data } : {};
  },
  reader: responsesReader,
  read,
  merge: mergeResponses,
  editor: (ours) => responsesEditor(ours, mergeResponses),
  error: openaiError,
  errorEvent: (message) =>
    writeEvent({
      event: "error",
      data: JSON.stringify({ type: "error", code: "server_error", message, param: null }),
    }),
};

function itemsOf(input: JsonValue | undefined): JsonObject[] | undefined {
  if (typeof input === "string") return [{ role: "user", content: input }];
  if (!Array.isArray(input)) return undefined;
  const items = objectsOf(input);
  return items.length === input.length ? items : undefined;
}

function headLength(items: readonly JsonObject[]): number {
  const end = items.findIndex(({ role }) => role !== "system" && role !== "developer");
  return end === -1 ? items.length : end;
}

/** A conversation that the provider keeps comes in pieces, which say nothing of what was before them. */
function open(body: JsonObject): Opened | undefined {
  if (isGiven(body.previous_response_id) || isGiven(body.conversation) || isGiven(body.prompt)) return undefined;
  const items = itemsOf(body.input);
  if (items === undefined) return undefined;
  const length = headLength(items);
  if (length === items.length) return undefined;
  return {
    model: stringOf(body.model) ?? "",
    stream: body.stream === true,
    ...(typeof body.max_output_tokens === "number" ? { maxTokens: body.max_output_tokens } : {}),
    units: unitsOfItems(items.slice(length)),
    fixedText: JSON.stringify([body.instructions ?? null, items.slice(0, length), body.tools ?? null]),
    toolNames: new Set(objectsOf(body.tools).flatMap((tool) => stringOf(tool.name) ?? [])),
    mayOffer: true,
  };
}

function isGiven(value: JsonValue | undefined): boolean {
  return value !== undefined && value !== null;
}

/** The items of one reply are one unit: thoughts must not be parted from the calls they led to. */
function unitsOfItems(items: readonly JsonObject[]): Unit[] {
  const units: Unit[] = [];
  let isReply = false;
  for (const item of items) {
    const answers = isAnswered(item);
    const last = units.at(-1);
    if (answers && isReply && last) last.wires.push(item);
    else units.push({ wires: [item] });
    isReply = answers;
  }
  return units;
}

function isAnswered(item: JsonObject): boolean {
  const type = stringOf(item.type) ?? "message";
  return type === "message" ? item.role === "assistant" : type === "reasoning" || type.endsWith("_call");
}

function identityOf(item: JsonObject): JsonValue {
  const type = stringOf(item.type) ?? "message";
  if (type === "message") return [stringOf(item.role) ?? "", ...textsOf(item.content)];
  if (type === "function_call") {
    return [type, stringOf(item.call_id) ?? "", stringOf(item.name) ?? "", stringOf(item.arguments) ?? ""];
  }
  const { id: _, status: __, ...rest } = item;
  return canonical(rest);
}

function textsOf(content: JsonValue | undefined): JsonValue[] {
  if (typeof content === "string") return [content];
  return objectsOf(content).map((block) => (typeof block.text === "string" ? block.text : canonical(block)));
}

function compose(body: JsonObject, { summary, addition, units, tools, withheld }: Replacement): JsonObject {
  const items = itemsOf(body.input) ?? [];
  const instructions = [stringOf(body.instructions), addition].filter((text) => text !== undefined && text !== "");
  const sent = units.flatMap(({ wires }) => wires);
  const composed: JsonObject = {
    ...body,
    ...(instructions.length === 0 ? {} : { instructions: instructions.join("\n\n") }),
    input: [
      ...items.slice(0, headLength(items)),
      ...(summary === "" ? [] : [{ role: "user", content: summary }]),
      ...(body.store === false ? sent.filter(isComplete) : sent),
    ],
  };
  const own = objectsOf(body.tools);
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

/** A thought that the provider did not keep can only be sent back when it brings its content along. */
function isComplete(item: JsonObject): boolean {
  return item.type !== "reasoning" || isGiven(item.encrypted_content);
}

function read(body: JsonObject): Reply | undefined {
  if (!Array.isArray(body.output) || body.status === "failed") return undefined;
  const items = objectsOf(body.output);
  const usage = typeof body.usage === "object" && body.usage !== null && !Array.isArray(body.usage) ? body.usage : {};
  const input = numberOf(usage.input_tokens);
  return {
    unit: { wires: items },
    calls: items.filter(({ type }) => type === "function_call" || type === "custom_tool_call").map(callOf),
    ...(input > 0 ? { usage: { input, output: numberOf(usage.output_tokens) } } : {}),
    isCut: body.status === "incomplete",
  };
}

function callOf(item: JsonObject): Call {
  const text = stringOf(item.arguments) ?? "";
  return { id: stringOf(item.call_id) ?? "", name: stringOf(item.name) ?? "", input: inputOf(text) };
}

function inputOf(text: string): JsonValue {
  try {
    return text === "" ? {} : (JSON.parse(text) as JsonValue);
  } catch {
    // The tool says what is wrong with what it is given.
    return text;
  }
}

function mergeResponses(bodies: readonly JsonObject[], ours: ReadonlySet<string>): JsonObject {
  const output = bodies
    .flatMap((body) => objectsOf(body.output))
    .filter((item) => !(item.type === "function_call" && ours.has(stringOf(item.name) ?? "")));
  const usage = bodies.map((body) => body.usage).reduce((sum, one) => (sum && one ? added(sum, one) : (one ?? sum)));
  return { ...bodies.at(-1), output, ...(usage === undefined ? {} : { usage }) };
}

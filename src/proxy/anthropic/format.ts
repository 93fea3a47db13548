import { fromAnthropic, type JsonObject, type JsonValue, type Message } from "../../domain/index.ts";
import { addNumbers, printCanonical, readNumber, readObject, readObjects, readString } from "../json.ts";
import { printSseEvent } from "../sse.ts";
import type { AnsweredCall, Call, Format, ParsedRequest, Replacement, Reply, Unit } from "../wire.ts";
import { anthropicEditor } from "./editor.ts";
import { anthropicReader } from "./reader.ts";

/** Anthropic's Messages API. */
export const anthropicFormat: Format = {
  id: "anthropic",
  parse: parseRequest,
  identity,
  messages: ({ wires }) => wires.map((wire): Message => fromAnthropic(wire)),
  compose,
  results: (answered) => ({ wires: [{ role: "user", content: answered.map(createResultBlock) }] }),
  join(results, next) {
    const [first, ...rest] = next.wires;
    if (first?.role !== "user") return [results, next];
    const joined = [...readBlocks(results.wires[0]), ...readBlocks(first)];
    return [{ wires: [{ ...first, content: joined }, ...rest] }];
  },
  reader: anthropicReader,
  read,
  merge,
  editor: anthropicEditor,
  error: (status, message) => ({ type: "error", error: { type: getErrorType(status), message } }),
  errorEvent: (message) =>
    printSseEvent({
      event: "error",
      data: JSON.stringify({ type: "error", error: { type: "api_error", message } }),
    }),
};

function parseRequest(body: JsonObject): ParsedRequest | undefined {
  if (!Array.isArray(body.messages) || body.messages.length === 0) return undefined;
  const wires = readObjects(body.messages);
  if (wires.length !== body.messages.length || wires.some(({ role }) => typeof role !== "string")) return undefined;
  const tools = readObjects(body.tools);
  return {
    model: readString(body.model) ?? "",
    stream: body.stream === true,
    ...(typeof body.max_tokens === "number" ? { maxTokens: body.max_tokens } : {}),
    units: wires.map((wire) => ({ wires: [wire] })),
    fixedText: JSON.stringify([body.system ?? null, body.tools ?? null]),
    toolNames: new Set(tools.flatMap((tool) => readString(tool.name) ?? [])),
    mayOffer: true,
  };
}

function readBlocks(wire: JsonObject | undefined): JsonValue[] {
  if (wire === undefined) return [];
  if (typeof wire.content === "string") return [{ type: "text", text: wire.content }];
  return Array.isArray(wire.content) ? wire.content : [];
}

const reminder = /^\s*<system-reminder>[\s\S]*<\/system-reminder>\s*$/;

/**
 * Ignores reasoning and reminders, which clients add and remove between two requests.
 */
function identity({ wires }: Unit): JsonValue {
  return wires.map((wire) => {
    const blocks = readBlocks(wire).map(readObject);
    const lasting = blocks.filter((block) => !isTransient(block));
    const counted = lasting.length > 0 ? lasting : blocks;
    return [readString(wire.role) ?? "", ...counted.map(identifyBlock)];
  });
}

function isTransient(block: JsonObject): boolean {
  if (block.type === "thinking" || block.type === "redacted_thinking") return true;
  return block.type === "text" && reminder.test(readString(block.text) ?? "");
}

function identifyBlock(block: JsonObject): JsonValue {
  switch (block.type) {
    case "text":
      return ["text", readString(block.text) ?? ""];
    case "tool_use":
      return ["tool_use", readString(block.id) ?? "", readString(block.name) ?? "", printCanonical(block.input)];
    case "tool_result":
      return [
        "tool_result",
        readString(block.tool_use_id) ?? "",
        ...readBlocks(block).map((one) => printCanonical(one)),
      ];
    default:
      return printCanonical(block);
  }
}

function compose(body: JsonObject, { summary, addition, units, tools, withheld }: Replacement): JsonObject {
  const composed: JsonObject = { ...body };
  if (addition !== undefined) composed.system = [...readSystemBlocks(body.system), { type: "text", text: addition }];
  const own = readObjects(body.tools);
  if (tools.length > 0 && !(withheld && own.length > 0)) {
    composed.tools = [
      ...own,
      ...tools.map(({ name, description, schema }) => ({ name, description, input_schema: schema })),
    ];
    if (withheld) composed.tool_choice = { type: "none" };
  }
  const first: JsonObject[] = summary === "" ? [] : [{ role: "user", content: [{ type: "text", text: summary }] }];
  composed.messages = joinInstructions([...first, ...units.flatMap(({ wires }) => wires)]);
  return composed;
}

/** Joins consecutive system messages into one. */
function joinInstructions(wires: readonly JsonObject[]): JsonObject[] {
  const joined: JsonObject[] = [];
  for (const wire of wires) {
    const last = joined.at(-1);
    if (wire.role === "system" && last?.role === "system") {
      joined[joined.length - 1] = { ...last, content: [...readBlocks(last), ...readBlocks(wire)] };
    } else joined.push(wire);
  }
  return joined;
}

function readSystemBlocks(system: JsonValue | undefined): JsonValue[] {
  if (typeof system === "string") return system === "" ? [] : [{ type: "text", text: system }];
  return Array.isArray(system) ? system : [];
}

function createResultBlock({ id, output, isError }: AnsweredCall): JsonObject {
  return { type: "tool_result", tool_use_id: id, content: output, ...(isError ? { is_error: true } : {}) };
}

function read(body: JsonObject): Reply | undefined {
  if (body.role !== "assistant" || !Array.isArray(body.content)) return undefined;
  const blocks = readObjects(body.content);
  const calls = blocks
    .filter(({ type }) => type === "tool_use")
    .map(
      (block): Call => ({
        id: readString(block.id) ?? "",
        name: readString(block.name) ?? "",
        input: block.input ?? {},
      }),
    );
  const usage = readObject(body.usage);
  const input =
    readNumber(usage.input_tokens) +
    readNumber(usage.cache_creation_input_tokens) +
    readNumber(usage.cache_read_input_tokens);
  return {
    unit: { wires: [{ role: "assistant", content: body.content }] },
    calls,
    ...(input > 0 ? { usage: { input, output: readNumber(usage.output_tokens) } } : {}),
    isTruncated: body.stop_reason === "max_tokens" || body.stop_reason === "model_context_window_exceeded",
  };
}

function merge(bodies: readonly JsonObject[], ours: ReadonlySet<string>): JsonObject {
  const last = bodies.at(-1) ?? {};
  const content = bodies
    .flatMap((body) => readObjects(body.content))
    .filter((block) => !(block.type === "tool_use" && ours.has(readString(block.name) ?? "")));
  const usage = bodies.map((body) => body.usage).reduce((sum, one) => addNumbers(sum, one));
  const isAnswered = last.stop_reason === "tool_use" && !content.some(({ type }) => type === "tool_use");
  return {
    ...last,
    ...(typeof bodies[0]?.id === "string" ? { id: bodies[0].id } : {}),
    content,
    ...(usage === undefined ? {} : { usage }),
    ...(isAnswered ? { stop_reason: "end_turn" } : {}),
  };
}

function getErrorType(status: number): string {
  switch (status) {
    case 400:
      return "invalid_request_error";
    case 401:
      return "authentication_error";
    case 403:
      return "permission_error";
    case 404:
      return "not_found_error";
    case 413:
      return "request_too_large";
    case 429:
      return "rate_limit_error";
    default:
      return "api_error";
  }
}

import { VarveError } from "../errors.ts";
import { isJsonObject, type JsonObject, type JsonValue, jsonEqual } from "../json.ts";
import { getParts, type Message, type Part, type Role, type ToolResultPart, type WireFormat } from "../message.ts";

/** Converts between the blocks of a format and parts. */
export interface BlockCodec {
  readonly format: WireFormat;
  /** Returns `undefined` for an unknown block. */
  read(block: JsonObject): Part | undefined;
  /**
   * Returns `undefined` for a part that the format cannot express. `trusted` means that signatures and encrypted texts
   * come from this format's provider; others would be rejected, so they are omitted.
   */
  write(part: Part, trusted: boolean): JsonValue | undefined;
}

/**
 * Reads a block and writes it again to check whether the typed fields are sufficient. If not, the block itself is
 * stored with the part. This one comparison makes every round trip exact, even for unknown blocks.
 */
export function readBlock(codec: BlockCodec, block: JsonValue): Part {
  const raw = { format: codec.format, block };
  const part = isJsonObject(block) ? codec.read(block) : undefined;
  if (part === undefined) return { type: "opaque", raw };
  return jsonEqual(codec.write(part, true), block) ? part : { ...part, raw };
}

export function writeBlock(codec: BlockCodec, part: Part, trusted: boolean): JsonValue | undefined {
  if (part.raw?.format === codec.format) return part.raw.block;
  if (isHosted(part)) return undefined;
  return codec.write(part, trusted);
}

export function writeBlocks(codec: BlockCodec, parts: readonly Part[], trusted: boolean): JsonValue[] {
  return parts.map((part) => writeBlock(codec, part, trusted)).filter((block) => block !== undefined);
}

const clientBlocks: ReadonlySet<unknown> = new Set([
  "tool_use",
  "tool_result",
  "function",
  "custom",
  "toolCall",
  "function_call",
  "function_call_output",
  "custom_tool_call",
  "custom_tool_call_output",
]);

/**
 * Whether a call or result belongs to a tool that the provider runs itself, such as web search. The client does not
 * answer such calls, and other providers do not understand them.
 */
export function isHosted(part: Part): boolean {
  if (part.type !== "tool_call" && part.type !== "tool_result") return false;
  const block = part.raw?.block;
  if (!isJsonObject(block)) return false;
  if (part.raw?.format === "ai-sdk") return block.providerExecuted === true;
  if (part.raw?.format === "google") return "executableCode" in block || "codeExecutionResult" in block;
  return typeof block.type === "string" && !clientBlocks.has(block.type);
}

/** Values are processed recursively, so excessive nesting is rejected first. */
const depthMax = 500;

/** Checks that a message is an object of limited depth. */
export function checkMessageObject(format: WireFormat, message: unknown): JsonObject {
  if (!isJsonObject(message)) {
    throw new VarveError("BAD_MESSAGE", `A message in the ${format} format must be an object.`, {
      remedy: "Send one message at a time, in the format of the provider's API.",
    });
  }
  let level: unknown[] = [message];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > depthMax) {
      throw new VarveError("BAD_MESSAGE", `The message is nested more than ${depthMax} levels deep.`);
    }
    level = level.flatMap((value) => (typeof value === "object" && value !== null ? Object.values(value) : []));
  }
  return message;
}

export type Segment = { role: "tool"; results: ToolResultPart[] } | { role: Exclude<Role, "tool">; parts: Part[] };

/**
 * Splits a message into runs of tool results and of other parts, for formats in which results are separate messages.
 * Results of hosted tools stay in place.
 */
export function splitSegments(message: Message): Segment[] {
  const speaker = message.role === "tool" ? "user" : message.role;
  const segments: Segment[] = [];
  for (const part of getParts(message)) {
    const last = segments.at(-1);
    if (part.type === "tool_result" && !isHosted(part)) {
      if (last?.role === "tool") last.results.push(part);
      else segments.push({ role: "tool", results: [part] });
    } else if (last !== undefined && last.role !== "tool") last.parts.push(part);
    else segments.push({ role: speaker, parts: [part] });
  }
  return segments;
}

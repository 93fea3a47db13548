import { VarveError } from "../errors.ts";
import { isJsonObject, type JsonObject, type JsonValue, jsonEqual } from "../json.ts";
import type { Part, WireFormat } from "../part.ts";

/** How one format's blocks become parts and parts its blocks. */
export interface BlockCodec {
  readonly format: WireFormat;
  /** `undefined` for a block this format's reader does not know. */
  read(block: JsonObject): Part | undefined;
  /**
   * `undefined` for a part that has no place in this format. `trusted` says that signatures and encrypted texts were
   * made by this format's provider; another provider's would be refused, so they stay behind.
   */
  write(part: Part, trusted: boolean): JsonValue | undefined;
}

/**
 * Reads a block and writes it again to see whether the typed fields are enough. Where they are not, the block itself
 * stays with the part: this one comparison is what makes every round trip exact, for blocks nobody has seen yet too.
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
 * Whether a call or a result is of a tool that the provider itself ran, such as its web search. Nobody answers such a
 * call, and no other provider understands it.
 */
export function isHosted(part: Part): boolean {
  if (part.type !== "tool_call" && part.type !== "tool_result") return false;
  const block = part.raw?.block;
  if (!isJsonObject(block)) return false;
  if (part.raw?.format === "google") return "executableCode" in block || "codeExecutionResult" in block;
  return typeof block.type === "string" && !clientBlocks.has(block.type);
}

/** Values are walked by recursion, so that a hostile depth must end before the stack does. */
const depthMax = 500;

/** The message as an object, or an error that says why it is none. */
export function expectObject(format: WireFormat, message: unknown): JsonObject {
  if (!isJsonObject(message)) {
    throw new VarveError("BAD_MESSAGE", `A message in the ${format} format must be an object.`, {
      remedy: "Send one message at a time, as the provider's API takes it.",
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

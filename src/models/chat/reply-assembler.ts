import type { JsonObject, JsonValue, Message, Part } from "../../domain/index.ts";
import type { SdkStreamPart } from "../sdk.ts";

interface Piece {
  type: "text" | "reasoning";
  text: string;
  options?: JsonValue;
}

interface Call {
  type: "call";
  callId: string;
  name: string;
  input: string;
  options?: JsonValue;
}

/** Assembles a reply from the parts of a stream, in order. */
export class ReplyAssembler {
  readonly #pieces: (Piece | Call)[] = [];
  readonly #open = new Map<string, Piece>();

  add(part: SdkStreamPart): void {
    switch (part.type) {
      case "text-start":
      case "text-delta":
      case "text-end":
      case "reasoning-start":
      case "reasoning-delta":
      case "reasoning-end": {
        const piece = this.#piece(part.type.startsWith("text") ? "text" : "reasoning", part.id);
        if ("delta" in part) piece.text += part.delta;
        // The last signature of a part is the valid one.
        piece.options = (part.providerMetadata as JsonValue | undefined) ?? piece.options;
        if (part.type === "text-end" || part.type === "reasoning-end") this.#open.delete(`${piece.type} ${part.id}`);
        break;
      }
      case "tool-call": {
        const { toolCallId: callId, toolName: name, input } = part;
        this.#pieces.push({ type: "call", callId, name, input, options: part.providerMetadata as JsonValue });
        break;
      }
      default:
    }
  }

  #piece(type: Piece["type"], id: string): Piece {
    const name = `${type} ${id}`;
    const open = this.#open.get(name);
    if (open) return open;
    const piece: Piece = { type, text: "" };
    this.#open.set(name, piece);
    this.#pieces.push(piece);
    return piece;
  }

  /** The reply as a message of the log. Signatures of the provider are stored with it. */
  toMessage(from: { provider: string; model: string }): Message {
    const parts: Part[] = [];
    const signed: JsonObject = {};
    for (const piece of this.#pieces) {
      const { options } = piece;
      if (piece.type === "call") {
        parts.push({ type: "tool_call", callId: piece.callId, name: piece.name, input: parseInput(piece.input) });
        if (options !== undefined) signed[piece.callId] = options;
      } else if (piece.type === "reasoning") {
        parts.push(toReasoningPart(piece.text, options));
        if (options !== undefined && !isAnthropic(options)) signed[`reasoning ${piece.text}`] = options;
      } else if (piece.text !== "") parts.push({ type: "text", text: piece.text });
    }
    const meta = Object.keys(signed).length > 0 ? { meta: { providerOptions: signed } } : {};
    return { role: "assistant", content: parts, ...from, ...meta };
  }
}

/**
 * Parses the input of a call. Invalid JSON becomes an empty input: the tool then reports what it needs, and the model
 * calls again.
 */
function parseInput(text: string): JsonValue {
  if (text.trim() === "") return {};
  try {
    return (JSON.parse(text) as JsonValue) ?? {};
  } catch {
    return {};
  }
}

function isAnthropic(options: JsonValue): options is { anthropic: JsonObject } {
  return typeof options === "object" && options !== null && "anthropic" in options;
}

function toReasoningPart(text: string, options: JsonValue | undefined): Part {
  if (options === undefined || !isAnthropic(options)) return { type: "reasoning", text };
  const { signature, redactedData } = options.anthropic as { signature?: string; redactedData?: string };
  return {
    type: "reasoning",
    text,
    ...(signature === undefined ? {} : { signature }),
    ...(redactedData === undefined ? {} : { encrypted: redactedData }),
  };
}

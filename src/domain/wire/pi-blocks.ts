import type { JsonObject, JsonValue } from "../json.ts";
import type { Part } from "../part.ts";
import type { BlockCodec } from "./exact.ts";
import { defined, inputAsObject, json, stringField } from "./shared.ts";

export const piBlocks: BlockCodec = { format: "pi", read, write };

function read(block: JsonObject): Part | undefined {
  switch (block.type) {
    case "text": {
      const text = stringField(block, "text");
      return text === undefined ? undefined : { type: "text", text };
    }
    case "thinking": {
      const text = stringField(block, "thinking");
      const signature = stringField(block, "thinkingSignature");
      if (text === undefined) return undefined;
      // Redacted thinking has no text of its own: what it carries is the provider's encrypted block.
      if (block.redacted === true) return defined({ type: "reasoning", text: "", encrypted: signature } as const);
      return defined({ type: "reasoning", text, signature } as const);
    }
    case "toolCall": {
      const callId = stringField(block, "id");
      const name = stringField(block, "name");
      if (callId === undefined || name === undefined) return undefined;
      return { type: "tool_call", callId, name, input: block.arguments ?? null };
    }
    case "image": {
      const data = stringField(block, "data");
      if (data === undefined) return undefined;
      return defined({
        type: "image",
        source: { kind: "base64", data },
        mediaType: stringField(block, "mimeType"),
      } as const);
    }
    default:
      return undefined;
  }
}

function write(part: Part, trusted: boolean): JsonValue | undefined {
  switch (part.type) {
    case "text":
      return { type: "text", text: part.text };
    case "reasoning":
      if (trusted && part.encrypted !== undefined && part.text === "") {
        return { type: "thinking", thinking: "", thinkingSignature: part.encrypted, redacted: true };
      }
      if (!trusted && part.text === "") return undefined;
      return json({ type: "thinking", thinking: part.text, thinkingSignature: trusted ? part.signature : undefined });
    case "tool_call":
      return { type: "toolCall", id: part.callId, name: part.name, arguments: inputAsObject(part.input) };
    case "image":
      if (part.source.kind !== "base64") return undefined;
      return { type: "image", data: part.source.data, mimeType: part.mediaType ?? "image/png" };
    case "file":
      return part.source.kind === "text" ? { type: "text", text: part.source.text } : undefined;
    case "compaction":
      return part.summary === undefined ? undefined : { type: "text", text: part.summary };
    default:
      return undefined;
  }
}

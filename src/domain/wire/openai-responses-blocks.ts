import type { JsonObject, JsonValue } from "../json.ts";
import type { Role } from "../message.ts";
import type { Part } from "../part.ts";
import type { BlockCodec } from "./exact.ts";
import { defined, json, objectField, sourceFromUrl, stringField, urlFromSource } from "./shared.ts";

const answered: BlockCodec = { format: "openai-responses", read, write: (part) => write(part, "output_text") };
const asked: BlockCodec = { format: "openai-responses", read, write: (part) => write(part, "input_text") };

/** The blocks of a message item: what the model says has another name than what it is told. */
export function responsesBlocks(role: Role): BlockCodec {
  return role === "assistant" ? answered : asked;
}

function read(block: JsonObject): Part | undefined {
  switch (block.type) {
    case "input_text":
    case "output_text":
    case "text":
    case "summary_text":
    case "reasoning_text":
      return readText(stringField(block, "text"));
    case "refusal":
      return readText(stringField(block, "refusal"));
    case "input_image":
    case "computer_screenshot":
      return readImage(block);
    case "input_file":
      return readFile(block);
    case "input_audio": {
      const audio = objectField(block, "input_audio") ?? {};
      const data = stringField(audio, "data");
      if (data === undefined) return undefined;
      return {
        type: "file",
        source: { kind: "base64", data },
        mediaType: `audio/${stringField(audio, "format") ?? "wav"}`,
      };
    }
    default:
      return undefined;
  }
}

function readText(text: string | undefined): Part | undefined {
  return text === undefined ? undefined : { type: "text", text };
}

function readImage(block: JsonObject): Part | undefined {
  const url = stringField(block, "image_url");
  if (url !== undefined) return { type: "image", ...sourceFromUrl(url) };
  const fileId = stringField(block, "file_id");
  return fileId === undefined ? undefined : { type: "image", source: { kind: "file_id", fileId } };
}

function readFile(block: JsonObject): Part | undefined {
  const name = stringField(block, "filename");
  const fileId = stringField(block, "file_id");
  if (fileId !== undefined) return defined({ type: "file", source: { kind: "file_id", fileId }, name } as const);
  const url = stringField(block, "file_data") ?? stringField(block, "file_url");
  return url === undefined ? undefined : defined({ type: "file", ...sourceFromUrl(url), name } as const);
}

function write(part: Part, textType: "input_text" | "output_text"): JsonValue | undefined {
  switch (part.type) {
    case "text":
      return { type: textType, text: part.text };
    case "image":
      if (part.source.kind === "file_id") return { type: "input_image", file_id: part.source.fileId };
      return withUrl({ type: "input_image" }, "image_url", urlFromSource(part.source, part.mediaType));
    case "file":
      if (part.source.kind === "text") return { type: textType, text: part.source.text };
      if (part.source.kind === "file_id") {
        return json({ type: "input_file", file_id: part.source.fileId, filename: part.name });
      }
      return withUrl(
        json({ type: "input_file", filename: part.name }),
        part.source.kind === "url" ? "file_url" : "file_data",
        urlFromSource(part.source, part.mediaType),
      );
    case "compaction":
      return part.summary === undefined ? undefined : { type: textType, text: part.summary };
    default:
      return undefined;
  }
}

function withUrl(block: JsonObject, key: string, url: string | undefined): JsonObject | undefined {
  return url === undefined ? undefined : { ...block, [key]: url };
}

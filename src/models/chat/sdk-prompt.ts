import { getParts, type JsonObject, type Message, type Part, type ToolResultPart } from "../../domain/index.ts";
import { loadPackage, type SdkModel } from "../sdk.ts";
import type { ChatRequest } from "./port.ts";

export type SdkPrompt = Parameters<SdkModel["doStream"]>[0]["prompt"];
type SdkMessage = SdkPrompt[number];
type UserPart = Extract<SdkMessage, { role: "user" }>["content"][number];
type FilePart = Extract<UserPart, { type: "file" }>;
type AssistantPart = Extract<SdkMessage, { role: "assistant" }>["content"][number];
type ToolPart = Extract<SdkMessage, { role: "tool" }>["content"][number];
type Options = Extract<AssistantPart, { type: "text" }>["providerOptions"];

const downloadBytesMax = 64 * 1024 * 1024;

/**
 * Converts a conversation to the prompt of a model's own interface. Signed content is returned to its provider
 * unchanged. Files behind URLs that the provider cannot fetch itself are downloaded.
 */
export async function toSdkPrompt(
  { system, messages, cachePoints }: Pick<ChatRequest, "system" | "messages" | "cachePoints">,
  model: Pick<SdkModel, "supportedUrls">,
  signal?: AbortSignal,
): Promise<SdkPrompt> {
  const names = new Map<string, string>();
  for (const message of messages) {
    for (const part of getParts(message)) if (part.type === "tool_call") names.set(part.callId, part.name);
  }
  const marks = new Map((cachePoints ?? []).map(({ message, part }) => [message, part]));
  const prompt: SdkPrompt = [{ role: "system", content: system, ...(cachePoints ? cacheMark : {}) }];
  for (const [index, message] of messages.entries()) {
    const marked = marks.get(index);
    const converted =
      message.role === "assistant" ? toAssistantMessage(message, marked) : toInputMessages(message, names, marked);
    for (const one of converted) {
      const last = prompt.at(-1);
      // Providers expect all results of a step in one message.
      if (one.role === "tool" && last?.role === "tool") last.content.push(...one.content);
      else prompt.push(one);
    }
  }
  await inlineFiles(prompt, await model.supportedUrls, signal);
  return prompt;
}

/** Where Anthropic may end its cache; other providers ignore it. */
const cacheMark = { providerOptions: { anthropic: { cacheControl: { type: "ephemeral" } } } };

/** Tool results become separate messages; everything else becomes a user message. */
function toInputMessages(message: Message, names: ReadonlyMap<string, string>, marked?: number): SdkMessage[] {
  const results: ToolPart[] = [];
  const content: UserPart[] = [];
  for (const [index, part] of getParts(message).entries()) {
    const list: (ToolPart | UserPart)[] = part.type === "tool_result" ? results : content;
    list.push(...(part.type === "tool_result" ? [toResultPart(part, names)] : toUserParts(part)));
    const last = list.at(-1);
    if (index === marked && last !== undefined) Object.assign(last, cacheMark);
  }
  const prefix = message.role === "system" ? "[system] " : "";
  const [first] = content;
  if (prefix && first?.type === "text") content[0] = { ...first, text: prefix + first.text };
  return [
    ...(results.length > 0 ? [{ role: "tool" as const, content: results }] : []),
    ...(content.length > 0 ? [{ role: "user" as const, content }] : []),
  ];
}

function toUserParts(part: Part): UserPart[] {
  switch (part.type) {
    case "text":
      return part.text === "" ? [] : [{ type: "text", text: part.text }];
    case "image":
    case "file": {
      const { source } = part;
      if (source.kind === "text") return [{ type: "text", text: source.text }];
      if (source.kind === "file_id") return [{ type: "text", text: `[file ${source.fileId}]` }];
      const mediaType = part.mediaType ?? (part.type === "image" ? "image/png" : "application/octet-stream");
      const filename = part.type === "file" && part.name ? { filename: part.name } : {};
      return [{ type: "file", ...toFileData(source, mediaType), ...filename }];
    }
    default:
      return [];
  }
}

function toFileData(
  source: { kind: "base64"; data: string } | { kind: "url"; url: string },
  mediaType: string,
): Pick<FilePart, "data" | "mediaType"> {
  const inline = source.kind === "url" ? /^data:([^;,]*);base64,/.exec(source.url.slice(0, 256)) : undefined;
  if (source.kind === "url" && !inline) return { data: { type: "url", url: new URL(source.url) }, mediaType };
  const data = source.kind === "base64" ? source.data : source.url.slice(inline?.[0].length ?? 0);
  return { data: { type: "data", data }, mediaType: detectImageType(data) ?? (inline?.[1] || mediaType) };
}

/** Signatures of image formats, in base64. Providers reject an image whose media type does not match its bytes. */
const imageSignatures: readonly (readonly [start: RegExp, mediaType: string])[] = [
  [/^iVBORw0KGgo/, "image/png"],
  [/^\/9j\//, "image/jpeg"],
  [/^R0lGOD/, "image/gif"],
  [/^UklGR.{6}XRUJQ/, "image/webp"],
];

function detectImageType(base64: string): string | undefined {
  const start = base64.slice(0, 32);
  return imageSignatures.find(([pattern]) => pattern.test(start))?.[1];
}

async function inlineFiles(
  prompt: SdkPrompt,
  supportedUrls: Awaited<SdkModel["supportedUrls"]>,
  signal: AbortSignal | undefined,
): Promise<void> {
  const files = prompt.flatMap((message) => (message.role === "user" ? message.content : []));
  for (const file of files) {
    if (file.type !== "file" || file.data.type !== "url") continue;
    const { url } = file.data;
    if (canFetch(url, file.mediaType, supportedUrls)) continue;
    // The SDK's download refuses private addresses and unbounded responses.
    const { createDownload } = await loadPackage("ai", () => import("ai"));
    const { data } = await createDownload({ maxBytes: downloadBytesMax })({ url, abortSignal: signal });
    const start = Buffer.from(data.subarray(0, 24)).toString("base64");
    Object.assign(file, { data: { type: "data", data }, mediaType: detectImageType(start) ?? file.mediaType });
  }
}

/** Whether the provider fetches such a URL itself. Keys are media types such as `image/*`, or `*` for all. */
function canFetch(url: URL, mediaType: string, supportedUrls: Awaited<SdkModel["supportedUrls"]>): boolean {
  return Object.entries(supportedUrls).some(([key, patterns]) => {
    const accepted = key.toLowerCase() === "*" ? "" : key.toLowerCase().replace("*/*", "").replace("*", "");
    const type = mediaType.toLowerCase();
    const fits = accepted === "" || accepted.endsWith("/") ? type.startsWith(accepted) : type === accepted;
    return (
      fits && patterns.some((pattern) => new RegExp(pattern.source, pattern.flags.replace(/[gy]/g, "")).test(url.href))
    );
  });
}

function toAssistantMessage(message: Message, marked?: number): SdkMessage[] {
  const signed = (message.meta?.providerOptions ?? {}) as JsonObject;
  const content = getParts(message).flatMap((part): AssistantPart[] => {
    switch (part.type) {
      case "text":
        return part.text === "" ? [] : [{ type: "text", text: part.text }];
      case "reasoning":
        return [{ type: "reasoning", text: part.text, ...wrapOptions(findReasoningOptions(part, message)) }];
      case "tool_call": {
        const { callId, name, input } = part;
        const options = wrapOptions(signed[callId] as Options);
        return [{ type: "tool-call", toolCallId: callId, toolName: name, input: input ?? {}, ...options }];
      }
      default:
        return [];
    }
  });
  return content.length > 0 ? [{ role: "assistant", content, ...(marked === undefined ? {} : cacheMark) }] : [];
}

function findReasoningOptions(part: Extract<Part, { type: "reasoning" }>, message: Message): Options {
  const signed = (message.meta?.providerOptions ?? {}) as JsonObject;
  const kept = signed[`reasoning ${part.text}`] as Options;
  if (kept !== undefined) return kept;
  if (part.signature !== undefined) return { anthropic: { signature: part.signature } };
  return part.encrypted === undefined ? undefined : { anthropic: { redactedData: part.encrypted } };
}

function wrapOptions(providerOptions: Options): { providerOptions?: NonNullable<Options> } {
  return providerOptions === undefined ? {} : { providerOptions };
}

function toResultPart(part: ToolResultPart, names: ReadonlyMap<string, string>): ToolPart {
  const text = toOutputText(part);
  return {
    type: "tool-result",
    toolCallId: part.callId,
    toolName: part.name ?? names.get(part.callId) ?? "unknown",
    output: part.isError ? { type: "error-text", value: text } : { type: "text", value: text },
  };
}

function toOutputText({ output }: ToolResultPart): string {
  if (typeof output === "string") return output;
  return output.map((part) => (part.type === "text" ? part.text : `[${part.type}]`)).join("\n");
}

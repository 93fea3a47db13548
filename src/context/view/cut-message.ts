import { isJsonObject, type JsonValue, type Message, type Part, type ToolCallPart } from "../../domain/index.ts";
import { estimateMessageTokens, estimateTokens } from "../../text/index.ts";
import { describeText } from "../../transcript/index.ts";
import { withoutRaw } from "./prune.ts";

/** The tokens of the note that replaces the middle of a text. */
const noteTokens = 44;
/** Of what is left for a text, the share of its beginning; the rest is its end. */
const headShare = 0.65;
/** A longer description is added when a text keeps at least this many tokens. */
const describedTokens = 900;

/**
 * A message that is larger than its share of a view: its texts keep their beginning and their end, with a description
 * and a reference that opens the whole. Calls and results stay paired. The same message and share always give the same
 * bytes.
 */
export function cutMessage(message: Message, seq: number, maxTokens: number): Message {
  if (estimateMessageTokens(message) <= maxTokens) return message;
  const reference = `msg#${seq}`;
  // Media and reasoning cannot be shortened; they are named when they do not fit.
  const slim = withParts(message, (part) => replaceMedia(part, reference, maxTokens));
  for (const limit of textLimits(slim, maxTokens)) {
    const cut = withParts(slim, (part) => cutPart(part, reference, limit));
    if (estimateMessageTokens(cut) <= maxTokens) return cut;
  }
  const bare = withParts(slim, (part) => cutPart(part, reference, 0));
  return estimateMessageTokens(bare) <= maxTokens ? bare : dropParts(bare, reference, maxTokens);
}

/** How many tokens each text may keep, tried in this order: the even share of the room, then less. */
function textLimits(message: Message, maxTokens: number): number[] {
  const sizes: number[] = [];
  withParts(message, (part) => {
    for (const text of listTexts(part)) sizes.push(estimateTokens(text));
    return part;
  });
  const fixed = estimateMessageTokens(message) - sizes.reduce((sum, size) => sum + size, 0);
  const limit = fillEvenly(sizes, maxTokens - fixed);
  return [limit, Math.floor(limit * 0.85), Math.floor(limit * 0.6), Math.floor(limit * 0.3)];
}

/** The largest limit for which the sizes, each at most the limit, fit the room. */
export function fillEvenly(sizes: readonly number[], room: number): number {
  const ordered = [...sizes].sort((a, b) => a - b);
  let left = room;
  for (const [index, size] of ordered.entries()) {
    const share = left / (ordered.length - index);
    if (size > share) return Math.max(0, Math.floor(share));
    left -= size;
  }
  return Math.max(0, ordered.at(-1) ?? 0);
}

function withParts(message: Message, change: (part: Part) => Part): Message {
  if (typeof message.content === "string") {
    const part = change({ type: "text", text: message.content });
    return part.type === "text" && part.text === message.content
      ? message
      : withoutWire({ ...message, content: part.type === "text" ? part.text : [part] });
  }
  const content = message.content.map(change);
  if (content.every((part, index) => part === message.content[index])) return message;
  return withoutWire({ ...message, content });
}

/** The provider's own record of a message would restore what was cut. */
function withoutWire(message: Message): Message {
  const { wire: _, ...rest } = message;
  return rest;
}

/** Results that are nested deeper are replaced by a note. */
const nestingMax = 16;

function listTexts(part: Part, depth = 0): string[] {
  if (depth > nestingMax) return [];
  switch (part.type) {
    case "text":
    case "reasoning":
      return [part.text];
    case "tool_result":
      return typeof part.output === "string"
        ? [part.output]
        : part.output.flatMap((inner) => listTexts(inner, depth + 1));
    case "tool_call":
      return [part.inputText ?? JSON.stringify(part.input)];
    case "file":
      return part.source.kind === "text" ? [part.source.text] : [];
    case "subtask":
      return [part.prompt];
    case "compaction":
      return [part.summary ?? ""];
    default:
      return [];
  }
}

/** Images, encoded files, encrypted reasoning and unknown blocks that take more than a third of the share are named. */
function replaceMedia(part: Part, reference: string, maxTokens: number, depth = 0): Part {
  if (part.type === "tool_result" && typeof part.output !== "string") {
    if (depth > nestingMax) return { type: "text", text: `[nested result left out; ${reference} has it]` };
    const output = part.output.map((inner) => replaceMedia(inner, reference, maxTokens, depth + 1));
    return output.every((inner, index) => inner === part.output[index]) ? part : withoutRaw({ ...part, output });
  }
  const isMedia =
    part.type === "image" ||
    part.type === "opaque" ||
    (part.type === "file" && part.source.kind !== "text") ||
    part.type === "reasoning";
  if (!isMedia || estimateMessageTokens({ content: [part] }) <= maxTokens / 3) return part;
  return { type: "text", text: `[${part.type} left out; ${reference} has it]` };
}

function cutPart(part: Part, reference: string, limit: number): Part {
  switch (part.type) {
    case "text": {
      const text = cutText(part.text, reference, limit);
      return text === part.text ? part : withoutRaw({ ...part, text });
    }
    case "tool_result":
      return cutResult(part, reference, limit);
    case "tool_call":
      return cutCall(part, reference, limit);
    case "file": {
      if (part.source.kind !== "text") return part;
      const text = cutText(part.source.text, reference, limit);
      return text === part.source.text ? part : withoutRaw({ ...part, source: { kind: "text", text } });
    }
    case "subtask": {
      const prompt = cutText(part.prompt, reference, limit);
      return prompt === part.prompt ? part : withoutRaw({ ...part, prompt });
    }
    case "reasoning":
      return estimateTokens(part.text) <= limit
        ? part
        : { type: "text", text: `[reasoning left out; ${reference} has it]` };
    default:
      return part;
  }
}

function cutResult(part: Part & { type: "tool_result" }, reference: string, limit: number): Part {
  if (typeof part.output === "string") {
    const output = cutText(part.output, reference, limit);
    return output === part.output ? part : withoutRaw({ ...part, output });
  }
  const output = part.output.map((inner) => cutPart(inner, reference, limit));
  return output.every((inner, index) => inner === part.output[index]) ? part : withoutRaw({ ...part, output });
}

/** The arguments of a call keep their shape: only their long texts are cut. */
function cutCall(part: ToolCallPart, reference: string, limit: number): Part {
  const text = part.inputText ?? JSON.stringify(part.input);
  if (estimateTokens(text) <= limit) return part;
  const { inputText: _, raw: __, ...rest } = part;
  const sizes: number[] = [];
  mapTexts(part.input, (value) => {
    sizes.push(estimateTokens(value));
    return value;
  });
  const fixed = estimateTokens(text) - sizes.reduce((sum, size) => sum + size, 0);
  const each = fillEvenly(sizes, limit - Math.max(0, fixed));
  const input = mapTexts(part.input, (value) => cutText(value, reference, each));
  if (estimateTokens(JSON.stringify(input)) <= Math.max(limit, 2 * noteTokens)) return { ...rest, input };
  return { ...rest, input: { note: `arguments left out; ${reference} has them` } };
}

const depthMax = 40;

function mapTexts(value: JsonValue, change: (text: string) => string, depth = 0): JsonValue {
  if (typeof value === "string") return change(value);
  if (depth > depthMax) return value;
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, change, depth + 1));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, mapTexts(item, change, depth + 1)]));
}

/** The beginning and the end of a text within a number of tokens, with a note about what is between them. */
export function cutText(text: string, reference: string, maxTokens: number): string {
  const tokens = estimateTokens(text);
  if (tokens <= maxTokens) return text;
  const kept = Math.max(0, maxTokens - noteTokens);
  const description = describeText(text, kept >= describedTokens ? "long" : "short");
  const left = Math.max(0, kept - (kept >= describedTokens ? estimateTokens(description) : 0));
  const head = left < 12 ? "" : takeTokens(text, Math.floor(left * headShare), "start");
  const tail = left < 12 ? "" : takeTokens(text, left - Math.floor(left * headShare), "end");
  const note = `[… about ${tokens} tokens in all: ${description}. The middle is left out here; open ${reference} for the whole …]`;
  const cut = [head, note, tail].filter((piece) => piece !== "").join("\n");
  // The note about a short text is longer than the text.
  return estimateTokens(cut) < tokens ? cut : text;
}

/** The first or the last characters of a text that have at most this many tokens. */
function takeTokens(text: string, tokens: number, end: "start" | "end"): string {
  // The densest script has two tokens a character; the sparsest text about thirty characters a token.
  let characters = Math.min(text.length, tokens * 30);
  const take = () => (end === "start" ? text.slice(0, characters) : text.slice(-characters)).toWellFormed();
  for (let round = 0; round < 24 && characters > 0; round += 1) {
    const piece = take();
    const cost = estimateTokens(piece);
    if (cost <= tokens) return piece;
    characters = Math.max(1, Math.min(characters - 1, Math.floor((characters * tokens) / cost)));
  }
  return "";
}

/** The last resort for a message of very many parts: the first and last of them, and a note. */
function dropParts(message: Message, reference: string, maxTokens: number): Message {
  const parts = typeof message.content === "string" ? [] : message.content;
  const note: Part = { type: "text", text: `[parts left out; ${reference} has all ${parts.length}]` };
  const kept: Part[] = [];
  let left = maxTokens - estimateMessageTokens({ ...message, content: [note] });
  for (const part of parts.toReversed()) {
    const cost = estimateMessageTokens({ content: [part] }) - estimateMessageTokens({ content: [] });
    if (cost > left) break;
    left -= cost;
    kept.unshift(part);
  }
  return withoutWire({ ...message, content: [note, ...kept] });
}

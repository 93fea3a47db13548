import type { JsonValue, Message, Part } from "../../index.ts";
import { isObject, listParts, printOutput } from "./steps.ts";
import { normaliseText, splitWords } from "./text.ts";

/** Longer lines are cut into passages: words far apart in one line do not belong together. */
const passageChars = 1_000;

/** The text of a view, prepared for many questions about what is in it. */
export interface ViewText {
  lines: string[];
  /** All lines in lower case, with single spaces inside a line. */
  text: string;
  /** Each whole message on one line, in lower case. */
  messages: string[];
  /** For each word the passages that contain it: lines, and messages that are no longer than a passage. */
  passages: ReadonlyMap<string, ReadonlySet<number>>;
  /** The tool calls that are shown as such, with their result when it is shown too. */
  calls: ReadonlyMap<string, ShownResult | undefined>;
}

export interface ShownResult {
  text: string;
  isError: boolean | undefined;
}

export function readViewText(messages: readonly Message[], addition = ""): ViewText {
  const texts = [addition, ...messages.map(printMessage)].filter((text) => text !== "");
  const lines = texts.flatMap((text) => text.split("\n")).filter((line) => line.trim() !== "");
  const shortTexts = texts.filter((text) => text.length <= passageChars);
  return {
    lines,
    text: lines.map(normaliseText).join("\n"),
    messages: texts.map(normaliseText),
    passages: indexPassages([...lines.flatMap(cutLine), ...shortTexts]),
    calls: listCalls(messages),
  };
}

function indexPassages(passages: readonly string[]): Map<string, Set<number>> {
  const index = new Map<string, Set<number>>();
  for (const [at, passage] of passages.entries()) {
    for (const word of splitWords(passage)) {
      const known = index.get(word);
      if (known === undefined) index.set(word, new Set([at]));
      else known.add(at);
    }
  }
  return index;
}

function cutLine(line: string): string[] {
  const parts: string[] = [];
  for (let at = 0; at < line.length; at += passageChars) parts.push(line.slice(at, at + passageChars));
  return parts;
}

function listCalls(messages: readonly Message[]): Map<string, ShownResult | undefined> {
  const calls = new Map<string, ShownResult | undefined>();
  const parts = messages.flatMap(listParts);
  for (const part of parts) if (part.type === "tool_call") calls.set(part.callId, undefined);
  for (const part of parts) {
    if (part.type !== "tool_result" || !calls.has(part.callId)) continue;
    calls.set(part.callId, { text: printOutput(part.output), isError: part.isError });
  }
  return calls;
}

/** A message as the model reads it: text, calls with their arguments, results. */
function printMessage(message: Message): string {
  return listParts(message).map(printPart).join("\n");
}

function printPart(part: Part): string {
  switch (part.type) {
    case "text":
    case "reasoning":
      return unescapeSummary(part.text);
    case "tool_call":
      return `${part.name}\n${printInput(part.input)}`;
    case "tool_result":
      return printOutput(part.output);
    case "compaction":
      return part.summary ?? "";
    default:
      return "";
  }
}

/** Each argument on lines of its own, and each element of a list, so that a todo and its state share a line. */
function printInput(input: JsonValue): string {
  if (typeof input === "string") return input;
  if (!isObject(input)) return JSON.stringify(input);
  return Object.entries(input)
    .map(([key, value]) => {
      if (typeof value === "string") return `${key}: ${value}`;
      if (!Array.isArray(value)) return `${key}: ${JSON.stringify(value)}`;
      const isWords = value.every((one) => typeof one === "string");
      return isWords ? `${key}: ${value.join(" ")}` : `${key}:\n${value.map((one) => JSON.stringify(one)).join("\n")}`;
    })
    .join("\n");
}

/** Summaries are shown with escaped markup; a model reads through it. */
function unescapeSummary(text: string): string {
  if (!text.startsWith("<summary")) return text;
  const marks: Record<string, string> = {
    "&lt;": "<",
    "&gt;": ">",
    "&quot;": '"',
    "&apos;": "'",
    "&#39;": "'",
    "&amp;": "&",
  };
  return text.replace(/&(?:lt|gt|quot|apos|#39|amp);/g, (mark) => marks[mark] ?? mark);
}

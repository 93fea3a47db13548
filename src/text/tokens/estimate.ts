import { getParts, type Message, type Part } from "../../domain/index.ts";

/** The cost of a character by script, in hundredths of a token. Later lines override earlier ones. */
const scripts: readonly (readonly [first: number, last: number, hundredths: number])[] = [
  // Scripts without a line below: Georgian, Ethiopic, symbols and others.
  [0x0000, 0xffff, 100],
  // ASCII: one token covers one or two punctuation characters, three digits, or most of a word.
  [0x0000, 0x007f, 50],
  [0x0030, 0x0039, 38],
  [0x0041, 0x005a, 30],
  [0x0061, 0x007a, 26],
  [0x0009, 0x000d, 40],
  [0x0020, 0x0020, 15],
  // Latin letters with diacritics, and combining marks.
  [0x00a0, 0x024f, 60],
  [0x0300, 0x036f, 60],
  // Greek, Cyrillic, Armenian.
  [0x0370, 0x058f, 45],
  // Hebrew, Arabic and related scripts.
  [0x0590, 0x08ff, 50],
  // The scripts of India, Thai, Lao, Tibetan, Burmese.
  [0x0900, 0x109f, 70],
  // Typographic punctuation.
  [0x2000, 0x206f, 60],
  // Hangul letters, CJK radicals and punctuation, kana, ideographs, Hangul syllables, their compatibility forms.
  [0x1100, 0x11ff, 150],
  [0x2e80, 0x9fff, 150],
  [0xa960, 0xa97f, 150],
  [0xac00, 0xd7ff, 150],
  [0xf900, 0xfaff, 150],
  [0xfe30, 0xfe4f, 150],
  [0xff00, 0xffef, 150],
  // A surrogate pair is one astral character, at two tokens.
  [0xd800, 0xdfff, 100],
];

const weights = new Uint8Array(0x1_0000);
for (const [first, last, hundredths] of scripts) weights.fill(hundredths, first, last + 1);

/** The cost of a repeated space: indentation takes a token or two at any depth. */
const runWeight = 3;
const space = 0x20;

/**
 * Estimates the tokens of a text from its characters: one pass with a table lookup, without loading a tokenizer. The
 * weights give about four characters per token of English prose, three and a half of code, three of JSON; an ideograph
 * is one and a half tokens.
 */
export function estimateTokens(text: string): number {
  let hundredths = 0;
  for (let start = 0; start < text.length; start += pieceLength) {
    const piece = text.length <= pieceLength ? text : text.slice(start, start + pieceLength);
    bytes.write(piece, "utf16le");
    hundredths += weighUnits(piece.length);
  }
  return Math.ceil(hundredths / 100);
}

/** Reading a typed array is many times faster than reading characters of a string. */
const pieceLength = 32_768;
const bytes = Buffer.from(new ArrayBuffer(2 * pieceLength));
const units = new Uint16Array(bytes.buffer);

function weighUnits(count: number): number {
  let hundredths = 0;
  let last = 0;
  for (let index = 0; index < count; index += 1) {
    const code = units[index] ?? 0;
    hundredths += code === space && last === space ? runWeight : (weights[code] ?? 0);
    last = code;
  }
  return hundredths;
}

/** Overhead of a call: its id, type and field names. */
const toolCallTokens = 50;
/** Overhead of a message: its start, end and role. */
const messageTokens = 4;
/** An image of ordinary size at the more expensive providers. A file that is not text is counted like one such page. */
const mediaTokens = 1_600;
/**
 * Base64 encodes three bytes in four characters, and encrypted reasoning has about as many bytes as the text had
 * characters.
 */
const encryptedCharsPerToken = 5;

/** Estimates the tokens of a message with everything that is sent to a model, including reasoning. */
export function estimateMessageTokens(message: Pick<Message, "content" | "name">): number {
  let tokens = messageTokens + estimateTokens(message.name ?? "");
  // Results contain parts themselves. An explicit stack handles any depth without overflowing the call stack.
  const waiting: Part[] = [...getParts(message)];
  for (let part = waiting.pop(); part !== undefined; part = waiting.pop()) {
    tokens += estimatePart(part);
    if (part.type !== "tool_result") continue;
    if (typeof part.output === "string") tokens += estimateTokens(part.output);
    else for (const inner of part.output) waiting.push(inner);
  }
  return tokens;
}

/**
 * Estimates a part without nested parts. Parts that only record the course of a turn are never sent and cost nothing.
 */
function estimatePart(part: Part): number {
  switch (part.type) {
    case "text":
      return estimateTokens(part.text);
    case "reasoning":
      return part.text === "" ? estimateEncrypted(part.encrypted) : estimateTokens(part.text);
    case "tool_call":
      return toolCallTokens + estimateTokens(part.name) + estimateTokens(part.inputText ?? toJsonText(part.input));
    case "tool_result":
      return estimateTokens(part.name ?? "");
    case "file":
      return part.source.kind === "text" ? estimateTokens(part.source.text) : mediaTokens;
    case "image":
      return mediaTokens;
    case "patch":
      return estimateTokens(part.files.join("\n"));
    case "subtask":
      return estimateTokens(part.prompt) + estimateTokens(part.description ?? "");
    case "agent":
      return estimateTokens(part.name);
    case "compaction":
      return part.summary === undefined ? estimateEncrypted(part.encrypted) : estimateTokens(part.summary);
    case "opaque":
      return estimateTokens(toJsonText(part.raw.block));
    case "step_start":
    case "step_finish":
    case "snapshot":
    case "retry":
      return 0;
  }
}

function estimateEncrypted(text: string | undefined): number {
  return Math.ceil((text?.length ?? 0) / encryptedCharsPerToken);
}

function toJsonText(value: unknown): string {
  return JSON.stringify(value) ?? "";
}

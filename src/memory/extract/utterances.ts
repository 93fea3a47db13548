import { type Entry, getParts, getToolCalls } from "../../domain/index.ts";
import { findSentences, type Span } from "../../text/index.ts";
import { getEntryText } from "../../transcript/index.ts";
import type { Trust } from "../memory.ts";

/** A message of a user or assistant that memories may be extracted from. */
export interface Utterance {
  agent: string;
  seq: number;
  sessionId: string;
  time: number;
  role: "user" | "assistant";
  speaker: string;
  /** Whether it is not known to come from the session's person. */
  isUntrusted?: boolean;
  /** The text of the message in the log; spans are ranges of it. */
  text: string;
  /** The parts of the text to extract from, without injected blocks. */
  open: Span[];
}

/** Blocks that programs inject into a conversation: recalled history, memories, summaries, reminders. */
const injected =
  /<(recalled|memories|relevant[-_]memories|summary|summaries|system-reminder|history|context|environment_context|command-(?:name|message|args)|local-command-stdout)\b[^>]*>[\s\S]*?(?:<\/\1\s*>|$)/gi;
/** Lines that cite a memory: they repeat recalled content. */
const cited = /^.*\bmem_[0-9a-z]{19}\b.*$/gm;
/** A message prefix of chat channels, such as `[Telegram Anna +2m 2026-01-01 12:00 UTC] `. */
const envelope = /^\[[A-Z][^\]\n]{2,120}\d{4}-\d\d-\d\d[^\]\n]{0,40}\]\s*/;
const metadataLine = /^(?:\[message_id: [^\]\n]*\]|Conversation info \(untrusted metadata\):.*|System: \[.*)$/gm;
const fenced = /```[\s\S]*?(?:```|$)/g;

/** The utterance of an entry; undefined for tool messages, injected content and small talk. */
export function extractUtterance(entry: Entry, agent: string): Utterance | undefined {
  if (entry.type !== "message") return undefined;
  const { role, name } = entry.message;
  if (role !== "user" && role !== "assistant") return undefined;
  const parts = getParts(entry.message);
  // Reasoning and tool calls are no utterances.
  if (!parts.some((part) => part.type === "text" && part.text !== "")) return undefined;
  const text = getEntryText(entry);
  const open = findOpenSpans(text, findNonTextSpans(parts, text));
  if (open.every(({ start, end }) => isSmallTalk(text.slice(start, end)))) return undefined;
  return {
    agent,
    seq: entry.seq,
    sessionId: entry.sessionId,
    time: entry.time,
    role,
    speaker: name ?? role,
    ...(entry.trust === "untrusted" ? { isUntrusted: true } : {}),
    text,
    open,
  };
}

/** The utterances to extract from. What nobody vouches for teaches only about the conversation that nobody owns. */
export function listUtterances(entries: readonly Entry[], agent: string, userTrust: Trust | undefined): Utterance[] {
  return entries
    .flatMap((entry) => extractUtterance(entry, agent) ?? [])
    .filter(({ isUntrusted }) => !isUntrusted || userTrust === "untrusted");
}

/** Whether some entries contain work with tools. */
export function usesTools(entries: readonly Entry[]): boolean {
  return entries.some(
    (entry) => entry.type === "message" && (entry.message.role === "tool" || getToolCalls(entry.message).length > 0),
  );
}

/** The spans of a message's text that do not come from text parts. `getEntryText` joins all parts line by line. */
function findNonTextSpans(parts: ReturnType<typeof getParts>, text: string): Span[] {
  if (parts.every((part) => part.type === "text")) return [];
  const textSpans: Span[] = [];
  let from = 0;
  for (const part of parts) {
    if (part.type !== "text" || part.text === "") continue;
    const start = text.indexOf(part.text, from);
    if (start === -1) continue;
    textSpans.push({ start, end: start + part.text.length });
    from = start + part.text.length;
  }
  return invertSpans(textSpans, text.length);
}

function findOpenSpans(text: string, silent: Span[]): Span[] {
  const closed = [...silent];
  for (const pattern of [injected, cited, metadataLine, fenced]) {
    for (const match of text.matchAll(pattern)) closed.push({ start: match.index, end: match.index + match[0].length });
  }
  const head = envelope.exec(text);
  if (head) closed.push({ start: 0, end: head[0].length });
  closed.sort((a, b) => a.start - b.start || b.end - a.end);
  return invertSpans(closed, text.length);
}

/** The gaps between some spans. */
function invertSpans(spans: readonly Span[], length: number): Span[] {
  const left: Span[] = [];
  let at = 0;
  for (const { start, end } of spans) {
    if (start > at) left.push({ start: at, end: start });
    at = Math.max(at, end);
  }
  if (at < length) left.push({ start: at, end: length });
  return left;
}

const greeting =
  /^(?:hi|hello|hey|yo|good (?:morning|evening|night)|thanks?(?: you)?|thx|ok(?:ay)?|yes|no|yep|nope|sure|great|cool|nice|hallo|moin|danke|ja|nein|bonjour|salut|merci|oui|non|hola|gracias|sí|你好|谢谢|好的?|嗯|ありがとう|はい)[\s!.,。！~🙏👍😊]*$/iu;
const recallQuestion =
  /^(?:(?:do|did|can|could) you (?:still )?(?:remember|recall)|what (?:do|did) (?:you|i|we) (?:know|remember|say|tell|decide)|(?:weißt|erinnerst) du|tu te souviens|te acuerdas|你还?记得|还记得)/iu;

function isSmallTalk(text: string): boolean {
  const trimmed = text.trim();
  return (
    !/[\p{L}\p{N}]/u.test(trimmed) || trimmed.startsWith("/") || greeting.test(trimmed) || isRecallQuestion(trimmed)
  );
}

export function isRecallQuestion(text: string): boolean {
  return recallQuestion.test(text.trim());
}

/** The parts of an utterance to extract from, joined. */
export function joinReadable({ text, open }: Pick<Utterance, "text" | "open">): string {
  return open
    .map(({ start, end }) => text.slice(start, end).trim())
    .filter((piece) => piece !== "")
    .join("\n");
}

/** The sentences of an utterance, as ranges of the message's text. */
export function splitSentences({ text, open }: Pick<Utterance, "text" | "open">): Span[] {
  return open.flatMap((span) => findSentences(text, span));
}

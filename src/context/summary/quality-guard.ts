import { estimateTokens } from "../../text/index.ts";
import { expandPrefix, filesPrefix } from "../summary-text.ts";
import { contentWords } from "./extractive/candidates.ts";
import { scanWords } from "./extractive/words.ts";
import { findForeignLanguage } from "./language.ts";
import { findContradictions } from "./work-log/contradictions.ts";
import { isWorkLogText } from "./work-log/parse.ts";
import { sectionNames } from "./work-log/print.ts";
import type { WorkLog } from "./work-log/work-log.ts";

export interface GuardInput {
  content: string;
  /** The source text of the summary. */
  sources: string;
  kind: "leaf" | "condensed";
  depth: number;
  targetTokens: number;
  inputTokens: number;
  latestUserRequest?: string;
  /** How many times its target a summary may be long. */
  overageFactor?: number;
  /** The work as the transcript shows it: the summary must have its sections and must not contradict it. */
  workLog?: WorkLog;
}

export interface GuardResult {
  ok: boolean;
  /** Sentences that a model can act on. */
  faults: string[];
}

const identifiersMax = 12;
/** The approximate tokens of an identifier: a small summary must contain fewer of them. */
const tokensPerIdentifier = 24;

/** Checks a summary that a model wrote, by rules alone. */
export function checkSummary(input: GuardInput): GuardResult {
  const content = input.content.trim();
  if (content === "") return { ok: false, faults: ["The summary is empty."] };
  const faults = [
    ...lengthFaults(content, input),
    ...lineFaults(content, input.workLog !== undefined),
    ...kindFaults(content, input.sources),
    ...identifierFaults(content, input),
    ...requestFaults(content, input.latestUserRequest),
    ...(input.workLog === undefined ? [] : findContradictions(content, input.workLog, input.sources)),
  ];
  return { ok: faults.length === 0, faults };
}

function lengthFaults(content: string, input: GuardInput): string[] {
  const tokens = estimateTokens(content);
  const most = Math.floor(input.targetTokens * (input.overageFactor ?? 3));
  if (tokens >= input.inputTokens)
    return [`The summary has ${tokens} tokens and its input ${input.inputTokens}: shorten it.`];
  if (tokens > most) return [`The summary has ${tokens} tokens; at most ${most} are allowed.`];
  const least = Math.min(40, Math.floor(input.targetTokens / 8), Math.floor(input.inputTokens / 10));
  return tokens < least ? [`The summary has only ${tokens} tokens: it leaves out too much.`] : [];
}

function lineFaults(content: string, isWork: boolean): string[] {
  const lines = content.split("\n").map((line) => line.trim());
  const faults: string[] = [];
  if (isWork && !isWorkLogText(content)) {
    faults.push(`The sections are missing: ${sectionNames.join(", ")}, each name alone on its line.`);
  }
  if (!isWork && !lines.some((line) => line.startsWith(filesPrefix) && line.length > filesPrefix.length)) {
    faults.push('There is no line "Files: …" (or exactly "Files: none").');
  }
  const last = lines.at(-1) ?? "";
  if (!last.startsWith(expandPrefix.trim()) || last.length <= expandPrefix.length) {
    faults.push('The last line is not "Expand for details about: …".');
  }
  return faults;
}

const refusal =
  /^(?:i['’]?m sorry|sorry[,.]|i (?:can(?:no|['’])t|am unable|won['’]t)|as an ai\b|unfortunately, i\b|抱歉|对不起|我无法|申し訳)/i;
const preamble = /^(?:sure|certainly|of course|okay|here(?: is|['’]s)|below is)\b[^\n]{0,120}(?:summary|[:!])\s*$/im;
const instruction =
  /^(?:please (?:provide|share|paste|send|tell)|you (?:are|must|should|will) (?:now |an? )|ignore (?:all|any|previous|the)|system:|how can i help|what would you like)/i;

function kindFaults(content: string, sources: string): string[] {
  const faults: string[] = [];
  const [first = ""] = content.split("\n", 1);
  if (refusal.test(content)) faults.push("It reads like a refusal; report what the data holds.");
  if (preamble.test(first)) faults.push("It begins with a remark about the task; begin with the summary.");
  if (instruction.test(content)) faults.push("It reads like an instruction or a question; report what the data holds.");
  if (isGarbage(content)) faults.push("It is not readable text, or repeats itself.");
  if (content.length > 600 && sources.includes(content.slice(0, 500)))
    faults.push("It copies its input word for word.");
  const foreign = findForeignLanguage(sources, content);
  if (foreign !== undefined) faults.push(`It is in ${foreign.found}; the conversation is in ${foreign.expected}.`);
  return faults;
}

/** Whether a text has hardly any letters, or repeats the same few words. */
function isGarbage(content: string): boolean {
  const sample = content.slice(0, 20_000);
  const letters = sample.match(/[\p{L}\p{N}\s]/gu)?.length ?? 0;
  if (letters < 0.5 * sample.length || /[\p{Cc}\ufffd]/u.test(sample.replace(/[\t\r\n]/g, ""))) return true;
  const slots = new Set<number>();
  let words = 0;
  scanWords(sample, (slot) => {
    words += 1;
    slots.add(slot);
  });
  return words > 60 && slots.size < 0.15 * words;
}

function identifierFaults(content: string, input: GuardInput): string[] {
  const wanted = Math.min(identifiersMax, Math.floor(input.targetTokens / tokensPerIdentifier));
  // At higher depths only frequent identifiers are required.
  const least = input.depth >= 2 ? 2 : 1;
  const plain = content.replaceAll("&amp;", "&");
  const missing = findIdentifiers(input.sources, wanted)
    .filter(({ identifier, count }) => count >= least && !plain.includes(identifier))
    .map(({ identifier }) => identifier);
  return missing.length === 0 ? [] : [`These identifiers are missing: ${missing.join(" ")}`];
}

const requestCharsMax = 2_000;

/** Whether the summary shares enough words with the user's request. */
function requestFaults(content: string, request: string | undefined): string[] {
  const asked = contentWords((request ?? "").slice(0, requestCharsMax));
  if (asked.size < 2) return [];
  const words = contentWords(content);
  const shared = [...asked].filter((slot) => words.has(slot)).length;
  if (shared >= Math.max(1, Math.min(6, Math.floor(asked.size / 5)))) return [];
  return [`The user's newest request is not reflected: ${(request ?? "").slice(0, 200).replace(/\s+/g, " ")}`];
}

/** Characters that separate words and never occur inside an identifier. */
const separators = /[\s"'`()<>,;[\]{}|*]+/;
const charsMax = 2_000_000;
const lengthMax = 200;

/** Patterns of a whole word; plain numbers are too common to count. */
const patterns: readonly RegExp[] = [
  /^[a-z][a-z0-9+.-]{1,15}:\/\/\S{3,}$/i,
  /^(?:~\/|\.{0,2}\/|[A-Za-z]:\\)?(?:[\w@+.-]+[/\\])+[\w@+.-]*\.[A-Za-z]\w{0,7}$/,
  /^(?:~|\.{1,2})?\/[\w.@+-]{2,}(?:\/[\w.@+-]+)+$/,
  /^[\w.-]+@[\w-]+(?:\.[\w-]+)+$/,
  /^(?:localhost|[a-z0-9-]+(?:\.[a-z0-9-]+)+|[a-z][a-z0-9]*-[a-z0-9-]+):\d{2,5}$/i,
  /^\d{1,3}(?:\.\d{1,3}){3}$/,
  /^(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,64}$/,
  /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i,
  /^(?=\w*[_])(?=\w*\d)[A-Za-z]\w{4,}$/,
  /^[A-Z][A-Z0-9]{1,9}-\d{1,7}$/,
  /^#\d{2,7}$/,
  /^v?\d+\.\d+\.\d+(?:[-+][\w.]+)?$/,
];

/** The identifiers of a text, the most frequent first; later ones first among equals. */
export function findIdentifiers(text: string, max: number): { identifier: string; count: number }[] {
  const found = new Map<string, { identifier: string; count: number; last: number }>();
  const head = text.length <= charsMax ? text : text.slice(-charsMax);
  for (const [last, word] of head.split(separators).entries()) {
    if (word.length < 3 || word.length > lengthMax) continue;
    const identifier = word.replace(/^[=:]+|(?<![.:!?。，])[.:!?。，]+$/g, "");
    const known = found.get(identifier);
    if (known !== undefined) {
      known.count += 1;
      known.last = last;
    } else if (/[\d/\\@]/.test(identifier) && patterns.some((pattern) => pattern.test(identifier))) {
      found.set(identifier, { identifier, count: 1, last });
    }
  }
  return [...found.values()]
    .sort((a, b) => b.count - a.count || b.last - a.last)
    .slice(0, max)
    .map(({ identifier, count }) => ({ identifier, count }));
}

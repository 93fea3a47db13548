import { type CheckItem, dropLaunchers, type Outcome, readCheckRuns } from "./checks.ts";
import type { ErrorItem } from "./errors.ts";
import type { FileItem } from "./files.ts";
import type { LiteralItem } from "./literals.ts";
import { getFileName, isSameFile } from "./paths.ts";
import { readOutput } from "./steps.ts";
import { findContentWords, normaliseText, splitWords } from "./text.ts";
import type { TodoItem, TodoState } from "./todos.ts";
import type { ShownResult, ViewText } from "./view-text.ts";

const wordShare = 0.6;
const fewWords = 3;
const todoChars = 60;
const linesNear = 2;

/** Whether a sentence is in view: most of its content words in one passage, all of them when there are few. */
export function isSentenceInView(sentence: string, view: ViewText): boolean {
  const words = findContentWords(sentence);
  const literal = normaliseText(sentence);
  if (words.length === 0) return view.text.includes(literal);
  if (view.messages.some((message) => message.includes(literal))) return true;
  const needed = words.length < fewWords ? words.length : Math.ceil(words.length * wordShare);
  const counts = new Map<number, number>();
  for (const word of words) {
    for (const passage of view.passages.get(word) ?? []) {
      const count = (counts.get(passage) ?? 0) + 1;
      if (count >= needed) return true;
      counts.set(passage, count);
    }
  }
  return false;
}

/** Whether a text occurs as a token: not as a part of a longer word, number or name. */
function hasToken(text: string, token: string): boolean {
  for (let at = text.indexOf(token); at !== -1; at = text.indexOf(token, at + 1)) {
    if (isBoundary(text[at - 1], token[0]) && isEnd(text, at + token.length, token.at(-1))) return true;
  }
  return false;
}

function isBoundary(before: string | undefined, first: string | undefined): boolean {
  return before === undefined || !/[a-z0-9_]/.test(first ?? "") || !/[a-z0-9_]/.test(before);
}

/** A number does not end before a decimal place. */
function isEnd(text: string, end: number, last: string | undefined): boolean {
  const after = text[end];
  if (after === undefined || !/[a-z0-9_]/.test(last ?? "")) return true;
  if (/[a-z0-9_]/.test(after)) return false;
  return !(/\d/.test(last ?? "") && after === "." && /\d/.test(text[end + 1] ?? ""));
}

/**
 * Whether a path is in view, whole or by a suffix that names no other file of the conversation: with its folder, or by
 * its name alone when no other file has it.
 */
export function isFileInView({ path }: FileItem, named: readonly string[], view: ViewText): boolean {
  const segments = path
    .toLowerCase()
    .split("/")
    .filter((segment) => segment !== "");
  const others = named.filter((other) => !isSameFile(other, path)).map((other) => other.toLowerCase());
  for (let length = 1; length <= segments.length; length += 1) {
    const suffix = segments.slice(-length).join("/");
    const isAmbiguous = others.some((other) => other === suffix || other.endsWith(`/${suffix}`));
    if (!isAmbiguous && hasToken(view.text, suffix)) return true;
  }
  return hasToken(view.text, path.toLowerCase());
}

const todoMarks: Readonly<Record<TodoState, RegExp>> = {
  done: /\[x\]|[✓✔☑✅]|\b(?:done|completed?|finished|erledigt)\b|完了|已完成/i,
  active: /\[[~>/]\]|[◐▶→⏳🔄]|\bin[ _-]?progress\b|\b(?:active|doing|current(?:ly)?|started)\b|進行中|进行中/iu,
  open: /\[ \]|[☐○◯]|\b(?:pending|open|to[ -]?do|todo|not started|remaining|offen)\b|未完|待办/i,
  cancelled: /\[-\]|\b(?:cancell?ed|skipped|dropped)\b/i,
};

export function isTodoInView({ text, state }: TodoItem, view: ViewText): boolean {
  const whole = normaliseText(text);
  const start = whole.slice(0, todoChars);
  return view.lines.some((line) => {
    const shown = normaliseText(line);
    if (!shown.includes(start)) return false;
    // Words of the item itself say nothing about its state.
    return todoMarks[state].test(shown.replace(shown.includes(whole) ? whole : start, " "));
  });
}

const passMark =
  /\b(?:pass(?:ed|es|ing)?|ok|success(?:ful(?:ly)?)?|succeed(?:ed|s)?|(?:is|are|all|now|tests?) green|(?<!run )clean|exit(?:ed)?(?: with)?(?: code| status)? 0|0 (?:failed|failures|errors)|no (?:errors|failures))\b|[✓✔✅]/i;
const failMark =
  /\b(?:fail(?:ed|s|ing|ures?)?|errors?|broken|(?:is|are|all|now|tests?) red|exit(?:ed)?(?: with)?(?: code| status)? [1-9]\d*)\b|[✗✘❌✖]/i;
const noFailure = /\b(?:0|no|without) (?:failed|failing|failures?|errors?)\b/gi;

/** Whether a check is in view with its outcome: stated on one line, or as the call itself with its result. */
export function isCheckInView(check: CheckItem, view: ViewText, isLoose = false): boolean {
  const shown = view.calls.get(check.callId);
  if (shown !== undefined && judgeShown(shown, check) === check.outcome) return true;
  const words = splitWords(listCoreWords(check.command).join(" "));
  const needed = isLoose ? Math.max(1, Math.ceil(words.length * wordShare)) : words.length;
  return view.lines.some((line) => {
    const present = new Set(splitWords(line));
    return words.filter((word) => present.has(word)).length >= needed && statesOutcome(line, check);
  });
}

/** The distinguishing words of a command: without launchers, flags, and `run`. */
function listCoreWords(command: string): string[] {
  return dropLaunchers(command.split(" ")).filter((word) => word !== "run" && !word.startsWith("-") && word !== "");
}

const searchFilter = /\|\s*(?:e?grep|rg)\b(?:\s+-\S+)*\s+(?:"[^"]*"|'[^']*'|\S+)/g;

function statesOutcome(line: string, { command, outcome }: CheckItem): boolean {
  // The command may contain such words itself, as in `pytest tests/error_test.py | grep FAILED`.
  const rest = line.replaceAll(command, " ").replace(searchFilter, " ");
  if (outcome === "fail") return failMark.test(rest.replace(noFailure, " "));
  const isMixed = /\b[1-9]\d* (?:failed|failing|errors?)\b/i.test(rest);
  return passMark.test(rest) && !isMixed;
}

/** The outcome that a result says as it is shown, which may be less than it said in full. */
function judgeShown({ text, isError }: ShownResult, { command, line, callId }: CheckItem): Outcome | undefined {
  const { output, exitCode } = readOutput(text);
  const failed = exitCode === undefined ? isError : exitCode !== 0;
  const call = { kind: "call", callId, tool: "", input: null, command: line, output, failed, finished: true } as const;
  return readCheckRuns(call).find((run) => run.command === command)?.outcome;
}

/** Whether the cause of an error is in view, with a file or command of its fix near it or as a call of its own. */
export function isErrorInView({ cause, fix }: ErrorItem, view: ViewText): boolean {
  const words = findContentWords(cause);
  const needed = Math.ceil(words.length * wordShare);
  const mentions = (line: string) => fix !== undefined && mentionsFix(line.toLowerCase(), fix.files, fix.commands);
  return view.lines.some((line, at) => {
    const present = new Set(splitWords(line));
    if (words.length === 0 || words.filter((word) => present.has(word)).length < needed) return false;
    if (fix === undefined || fix.callIds.some((callId) => view.calls.has(callId))) return true;
    return view.lines.slice(Math.max(0, at - linesNear), at + linesNear + 1).some(mentions);
  });
}

function mentionsFix(line: string, files: readonly string[], commands: readonly string[]): boolean {
  if (files.some((path) => hasToken(line, getFileName(path).toLowerCase()))) return true;
  const present = new Set(splitWords(line));
  return commands.some((command) => {
    const words = splitWords(listCoreWords(command).join(" "));
    return words.length > 0 && words.filter((word) => present.has(word)).length >= Math.ceil(words.length * wordShare);
  });
}

/** Whether a literal occurs as a token. Separators of thousands and the space before a unit do not matter. */
export function isLiteralInView({ literal }: LiteralItem, view: ViewText): boolean {
  const token = normaliseText(literal);
  if (hasToken(view.text, token)) return true;
  const number = /^([$€£]?\d[\d.,_]*?)([ -]?)([^\d.,_\s-].*)?$/.exec(token);
  if (number === null) return false;
  const [, value = "", , unit = ""] = number;
  const values = [value, value.replace(/[,_](?=\d{3}\b)/g, "")];
  return values.some((one) =>
    ["", " ", "-"].some((gap) => hasToken(view.text, unit === "" ? one : `${one}${gap}${unit}`)),
  );
}

import { getParts } from "../../domain/index.ts";
import { estimateTokens } from "../../text/index.ts";
import { isMaterial, isTelling, oneLine, stripInjected } from "../../transcript/index.ts";
import { timeWriter } from "../summary-text.ts";
import { findCandidates } from "./extractive/candidates.ts";
import { emergencyTargetTokens, extractiveSummary, selectSentences, unfoldSummaries } from "./extractive.ts";
import type { SummaryRequest, SummaryTurn } from "./summary-request.ts";
import { isWorkLogText, parseWorkLog } from "./work-log/parse.ts";
import { unifyPaths } from "./work-log/paths.ts";
import { printWorkLog } from "./work-log/print.ts";
import { readWorkLog } from "./work-log/read.ts";
import { emptyWorkLog, type LogLine, mergeWorkLogs, type WorkLog } from "./work-log/work-log.ts";

export interface BuiltInOptions {
  targetTokens: number;
  timeZone?: string;
  isEmergency?: boolean;
}

/**
 * Writes a summary without a model: a work log where tools were used, the best sentences otherwise. It is deterministic
 * and never exceeds its target, except for the few fixed lines of a very small one.
 */
export function writeBuiltIn(request: SummaryRequest, options: BuiltInOptions): string {
  const { turns, depth } = request;
  const log = options.isEmergency === true ? undefined : readRequestLog(request, options.timeZone);
  if (log === undefined) return writeExtract(request, options);
  return printWorkLog(log, {
    targetTokens: options.targetTokens,
    sourceTokens: countSource(request),
    ...(depth === 0 ? {} : { requestWordsMin: depth === 1 ? sessionWords : handoverWords }),
    ...(depth === 0 ? { notes: selectNotes(turns, log, options.targetTokens) } : {}),
  });
}

/** The work log of what is to be summarised; undefined for a conversation without tool calls. */
export function readRequestLog({ depth, turns }: SummaryRequest, timeZone?: string): WorkLog | undefined {
  return depth === 0 ? readLeaf(turns, timeZone) : mergeSummaries(turns);
}

function readLeaf(turns: readonly SummaryTurn[], timeZone: string | undefined): WorkLog | undefined {
  const usesTools = turns.some(
    (turn) => turn.message !== undefined && getParts(turn.message).some((part) => part.type === "tool_call"),
  );
  if (!usesTools) return undefined;
  const log = readWorkLog(turns, timeWriter(timeZone));
  return { ...log, files: unifyPaths(log.files) };
}

/**
 * A summary of summaries in more detail than the stored one: their work logs merged, within a number of tokens. Undefined
 * when they are no work logs.
 */
export function mergeInDetail(
  contents: readonly string[],
  targetTokens: number,
  sourceTokens: number,
): string | undefined {
  if (!contents.every(isWorkLogText)) return undefined;
  const merged = mergeWorkLogs(contents.map(parseWorkLog));
  return printWorkLog({ ...merged, files: unifyPaths(merged.files) }, { targetTokens, sourceTokens });
}

/** Merges summaries when at least one of them is a work log; of the others, the user's lines count as requests. */
function mergeSummaries(summaries: readonly SummaryTurn[]): WorkLog | undefined {
  if (!summaries.some(({ text }) => isWorkLogText(text))) return undefined;
  const logs = summaries.map((summary) =>
    isWorkLogText(summary.text) ? parseWorkLog(summary.text) : sortLines(summary),
  );
  const merged = mergeWorkLogs(logs);
  return { ...merged, files: unifyPaths(merged.files) };
}

function sortLines(summary: SummaryTurn): WorkLog {
  const { turns, terms } = unfoldSummaries([summary]);
  const log = emptyWorkLog();
  for (const { role, text } of turns) (role === "user" ? log.requests : log.facts).push({ text });
  return { ...log, topics: terms };
}

function writeExtract(
  { turns, depth, previousSummary, sourceTokens }: SummaryRequest,
  options: BuiltInOptions,
): string {
  const { isEmergency, timeZone } = options;
  const targetTokens = isEmergency ? Math.min(emergencyTargetTokens, options.targetTokens) : options.targetTokens;
  return extractiveSummary({ turns, depth, previousSummary, sourceTokens, targetTokens, isEmergency, timeZone });
}

function countSource({ turns, sourceTokens }: SummaryRequest): number {
  return sourceTokens ?? turns.reduce((sum, turn) => sum + estimateTokens(turn.text), 0);
}

/** A request is cut to no fewer words than these, by depth: a hand-over has fewer requests, but ones that can be read. */
const sessionWords = 10;
const handoverWords = 13;
/** The share of a target that sentences may fill when the log leaves room. */
const notesShare = 0.5;

/** The sentences that say most about the work, without those that the log has already; best first. */
function selectNotes(turns: readonly SummaryTurn[], log: WorkLog, targetTokens: number): LogLine[] {
  const spoken = turns.map((turn): SummaryTurn => ({ time: turn.time, role: turn.role, text: readProse(turn) }));
  const known = log.requests.map(({ outcome }) => outcome ?? "").join("\n");
  const { list } = findCandidates(spoken, known);
  const telling = list.filter(({ text }) => isTelling(text));
  return selectSentences(telling, targetTokens * notesShare, []).flatMap(({ text, turn }) => {
    const seq = turns[turn]?.seq;
    const line = oneLine(text);
    return known.includes(line.slice(0, 60)) ? [] : [{ text: line, ...(seq === undefined ? {} : { seq }) }];
  });
}

/** The assistant's words, line by line, without pasted material; the person's words are in the requests. */
function readProse(turn: SummaryTurn): string {
  if (turn.role !== "assistant" || turn.message === undefined) return "";
  const said = getParts(turn.message).flatMap((part) => (part.type === "text" ? [part.text] : []));
  return stripInjected(said.join("\n"))
    .replace(/```[\s\S]*?(?:```|$)/g, "\n")
    .split("\n")
    .filter((line) => line.trim().length > 20 && !isMaterial(line))
    .join("\n");
}

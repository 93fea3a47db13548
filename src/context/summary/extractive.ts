import { estimateTokens } from "../../tokens/index.ts";
import { timeWriter, truncatedMarker } from "../summary-text.ts";
import { type Candidate, type Candidates, findCandidates } from "./extractive/candidates.ts";
import { unfoldSummaries } from "./extractive/children.ts";
import { expandLine, filesLine, printLines } from "./extractive/print.ts";
import { selectSentences } from "./extractive/select.ts";
import { splitSentences } from "./extractive/sentences.ts";
import type { SummaryTurn } from "./summary-request.ts";

export const extractiveTargetTokens = 512;
/** The smallest target: fewer tokens cannot hold the fixed lines. */
export const extractiveTokensMin = 96;

export interface ExtractiveInput {
  /** Messages for a leaf; summaries for a condensed one, each at the time of its earliest source. */
  turns: readonly SummaryTurn[];
  /** The previous summary: its content is not repeated. */
  previousSummary?: string;
  targetTokens?: number;
  depth: number;
  /** The tokens that this summary covers; those of the turns when absent. */
  sourceTokens?: number;
  timeZone?: string;
}

/**
 * The built-in summariser: the best sentences in order, with the fixed lines of every summary. It needs no model, is
 * deterministic, and never exceeds the target.
 */
export function extractiveSummary(input: ExtractiveInput): string {
  const target = Math.max(extractiveTokensMin, input.targetTokens ?? extractiveTargetTokens);
  const unfolded = input.depth > 0 ? unfoldSummaries(input.turns) : undefined;
  const turns = unfolded?.turns ?? input.turns;
  const found = findCandidates(turns, input.previousSummary ?? "");
  const files = filesLine(unfolded === undefined ? turns : [], unfolded?.files ?? [], Math.floor(target * 0.15));
  const marker = markerLine(input, found);
  const expandBudget = Math.floor(target * 0.1);
  const fixed = estimateTokens(`\n${files}\n${marker}\n`) + expandBudget;
  const write = timeWriter(input.timeZone);
  const chosen = selectSentences(found.list, 1.1 * (target - fixed), pinRequest(found.list, turns));
  let body = printLines(chosen, turns, input.depth, write);
  // The cost of lines is approximate while selecting; the last selections are dropped until the result fits.
  while (estimateTokens(body) + fixed > target && chosen.pop() !== undefined) {
    body = printLines(chosen, turns, input.depth, write);
  }
  for (;;) {
    const kept = new Set(chosen);
    const dropped = found.list.filter((one) => !kept.has(one));
    const expand = expandLine(dropped, unfolded?.terms ?? [], body, expandBudget);
    const lines = [body, files, marker, expand].filter((line) => line !== "");
    const summary = lines.join("\n").toWellFormed();
    // The last line may exceed its share by a token or two.
    if (estimateTokens(summary) <= target || chosen.pop() === undefined) return summary;
    body = printLines(chosen, turns, input.depth, write);
  }
}

/** The best sentence of the user's newest request is always included. */
function pinRequest(candidates: readonly Candidate[], turns: readonly SummaryTurn[]): Candidate[] {
  const at = turns.findLastIndex((turn) => turn.role === "user" && turn.text.trim() !== "");
  let best: Candidate | undefined;
  for (const one of candidates) {
    if (one.turn === at && (best === undefined || one.score > best.score)) best = one;
  }
  if (best !== undefined) return [best];
  // A request of common words only has no weight, but it is what the user is waiting for.
  const text = splitSentences(turns[at]?.text ?? "", 1).sentences[0]?.text;
  if (text === undefined) return [];
  const next = candidates.find((one) => one.turn > at);
  const order = (next?.order ?? (candidates.at(-1)?.order ?? 0) + 1) - 0.5;
  const position = next?.position ?? candidates.at(-1)?.position ?? 0;
  const tokens = estimateTokens(text);
  return [{ turn: at, order, position, text, tokens, factor: 1, slots: [], weights: [], score: 0 }];
}

function markerLine(input: ExtractiveInput, found: Candidates): string {
  const tokens = input.sourceTokens ?? input.turns.reduce((sum, turn) => sum + estimateTokens(turn.text), 0);
  const notes = [`stands for ${tokens} tokens`];
  if (found.skippedChars > 0) notes.push(`${found.skippedChars} characters not read`);
  if (found.skippedTurns > 0) notes.push(`${found.skippedTurns} turns not read`);
  return `${truncatedMarker} ${notes.join("; ")}`;
}

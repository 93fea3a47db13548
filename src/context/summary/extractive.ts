import { estimateTokens } from "../../tokens/index.ts";
import { timeWriter, truncatedMarker } from "../summary-text.ts";
import { type Candidate, type Candidates, findCandidates } from "./extractive/candidates.ts";
import { unfoldSummaries } from "./extractive/children.ts";
import { expandLine, filesLine, printLines } from "./extractive/print.ts";
import { selectSentences } from "./extractive/select.ts";
import { splitSentences } from "./extractive/sentences.ts";
import type { SummaryTurn } from "./summary-request.ts";

export const extractiveTargetTokens = 512;
/** Less than this holds no summary with its fixed lines; a smaller target is taken for this one. */
export const extractiveTokensMin = 96;

export interface ExtractiveInput {
  /** Messages for a leaf; for a condensed summary the summaries, one a turn, each at the time of its earliest source. */
  turns: readonly SummaryTurn[];
  /** What the reader has before this one; it is not said again. */
  previousSummary?: string;
  targetTokens?: number;
  depth: number;
  /** The tokens this summary stands for; the turns' own text when absent. */
  sourceTokens?: number;
  timeZone?: string;
}

/**
 * The built-in summariser: the sentences worth most, in order, with the lines every summary has. It needs no model, gives
 * the same answer to the same input, and never gives more than the target.
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
  // Lines are priced by rule of thumb while choosing, a little more than fits; the last choices go until it does.
  while (estimateTokens(body) + fixed > target && chosen.pop() !== undefined) {
    body = printLines(chosen, turns, input.depth, write);
  }
  const kept = new Set(chosen);
  const dropped = found.list.filter((one) => !kept.has(one));
  const expand = expandLine(dropped, unfolded?.terms ?? [], body, expandBudget);
  return [body, files, marker, expand]
    .filter((line) => line !== "")
    .join("\n")
    .toWellFormed();
}

/** The newest request of the user is always told, by its best sentence. */
function pinRequest(candidates: readonly Candidate[], turns: readonly SummaryTurn[]): Candidate[] {
  const at = turns.findLastIndex((turn) => turn.role === "user" && turn.text.trim() !== "");
  let best: Candidate | undefined;
  for (const one of candidates) {
    if (one.turn === at && (best === undefined || one.score > best.score)) best = one;
  }
  if (best !== undefined) return [best];
  // A request of nothing but common words has no weight of its own, and still it is what the user waits for.
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

import { estimateTokens } from "../tokens/index.ts";
import type { ExtractiveTurn } from "./extractive/candidates.ts";

const baseRatio = 0.4;
const leastRatio = 0.15;
/** Estimates may be too low, so everything is taken for this much more than it is. */
export const safetyMargin = 1.2;

/** The share of a window that one part of the input may fill: less when messages are large. */
export function chunkRatio(turnTokens: readonly number[], windowTokens: number): number {
  const total = turnTokens.reduce((sum, tokens) => sum + tokens, 0);
  const average = (safetyMargin * total) / Math.max(1, turnTokens.length) / windowTokens;
  if (average <= 0.1) return baseRatio;
  return Math.max(leastRatio, baseRatio - Math.min(2 * average, baseRatio - leastRatio));
}

/** Splits turns into parts of about equal tokens, each at most a share of the window, at the boundaries of turns. */
export function splitTurns(turns: readonly ExtractiveTurn[], windowTokens: number): ExtractiveTurn[][] {
  const sizes = turns.map((turn) => estimateTokens(turn.text));
  const total = sizes.reduce((sum, tokens) => sum + tokens, 0);
  const most = Math.max(1, Math.floor((chunkRatio(sizes, windowTokens) * windowTokens) / safetyMargin));
  const share = total / Math.max(1, Math.ceil(total / most));
  const parts: ExtractiveTurn[][] = [];
  let part: ExtractiveTurn[] = [];
  let tokens = 0;
  for (const [index, turn] of turns.entries()) {
    const size = sizes[index] ?? 0;
    if (part.length > 0 && tokens + size > share) {
      parts.push(part);
      part = [];
      tokens = 0;
    }
    part.push(turn);
    tokens += size;
  }
  if (part.length > 0) parts.push(part);
  return parts;
}

/** A turn that alone fills half of the window is named instead of summarised; its source stays where it is. */
export function nameLargeTurns(turns: readonly ExtractiveTurn[], windowTokens: number): ExtractiveTurn[] {
  return turns.map((turn) => {
    const tokens = estimateTokens(turn.text);
    if (safetyMargin * tokens <= windowTokens / 2) return turn;
    return { ...turn, text: `[A message of about ${tokens} tokens, too large to be summarised here]` };
  });
}

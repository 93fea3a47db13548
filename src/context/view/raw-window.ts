import type { MessageGroup, ShownMessage } from "./message-groups.ts";

export interface RawWindow {
  /** The index of the first group that is shown. */
  from: number;
  /** Whether every group is shown. */
  isWhole: boolean;
}

export interface RawWindowOptions {
  /** The tokens that the window may take. */
  tokens: number;
  /** The start of the window moves in steps of this many tokens of the log, so that the prefix rarely changes. */
  stepTokens: number;
  /** The tokens of the log before the first group. */
  tokensBefore: number;
  /** Whether the groups are all there are. */
  isComplete: boolean;
  /** The tokens of the lines and of the request that stand for what is before a window that starts at a group. */
  overheadTokens(from: number): number;
}

/**
 * Chooses the newest groups that fit. The window starts only at anchors: the first group after every multiple of the
 * step, counted from the beginning of the log. So it stays where it is while messages are added, until they no longer
 * fit. At least the last group is shown.
 */
export function chooseWindow(groups: readonly MessageGroup[], options: RawWindowOptions): RawWindow {
  const total = groups.reduce((sum, group) => sum + group.tokens, 0);
  if (options.isComplete && total <= options.tokens) return { from: 0, isWhole: true };
  let before = options.tokensBefore;
  let tokens = total;
  let step = Math.floor((before - 1) / options.stepTokens);
  for (const [index, group] of groups.entries()) {
    const isAnchor = Math.floor(before / options.stepTokens) > step;
    step = Math.floor(before / options.stepTokens);
    if (
      isAnchor &&
      (index > 0 || !options.isComplete) &&
      tokens <= options.tokens &&
      tokens + options.overheadTokens(index) <= options.tokens
    ) {
      return { from: index, isWhole: false };
    }
    before += group.storedTokens;
    tokens -= group.tokens;
  }
  return { from: Math.max(0, groups.length - 1), isWhole: options.isComplete && groups.length <= 1 };
}

/** The last request at or before the first message of a window: what the shown messages belong to. */
export function findOwnRequest(groups: readonly MessageGroup[], from: number): ShownMessage | undefined {
  const first = groups[from]?.messages[0];
  if (first === undefined || first.isRequest) return undefined;
  for (let index = from - 1; index >= 0; index -= 1) {
    const found = groups[index]?.messages.findLast((one) => one.isRequest);
    if (found !== undefined) return found;
  }
  return undefined;
}

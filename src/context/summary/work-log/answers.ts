import { oneLine, shortenWords, stripInjected } from "../../../transcript/index.ts";
import { readTodoState } from "./tool-kinds.ts";
import type { TodoLine } from "./work-log.ts";

const correction =
  /^(?:no\b|nope|not? quite|that'?s (?:not|wrong)|wrong|still\b|it still|doesn'?t work|undo|revert|try again|actually|i (?:said|meant)|are you|nein|falsch|immer noch|不对|不是|違う|non\b|нет\b)/iu;

/** Whether a message corrects the answer before it. */
export function isCorrection(text: string): boolean {
  return correction.test(text.trim());
}

/** Whether a message is the summary with which Claude Code continues a compacted session. */
export function isContinuation(text: string): boolean {
  return /^This session is being continued from a previous conversation/.test(text.trim());
}

export function readContinuation(text: string): string {
  return shortenWords(oneLine(stripInjected(text)), 120);
}

const checklistItem = /^\s*(?:[-*]|\d+[.)])\s+\[([ xX~-])\]\s+(.{2,300})$/;

/** A list of tasks that an answer writes out: `- [x] done`, `- [ ] to do`. */
export function readChecklist(text: string, seq: number | undefined): TodoLine[] {
  return text.split("\n").flatMap((line) => {
    const found = checklistItem.exec(line);
    if (found === null) return [];
    const cited = seq === undefined ? {} : { seq };
    return [{ text: oneLine(found[2] ?? ""), state: readTodoState(found[1] ?? ""), ...cited }];
  });
}

const nextStep =
  /^(?:.{0,30}\b(?:next steps?|still (?:need|to do|open|missing)|remaining|to ?do|not yet|left to do|follow-?ups?)\b|(?:next|then),? (?:i|we)\b|nächste|noch offen|下一步|次の)/iu;

/** The next step that an answer announces. */
export function findNextStep(answer: string): string | undefined {
  const lines = stripInjected(answer).split("\n").slice(-30);
  const at = lines.findIndex((line) => nextStep.test(line.replace(/^[#>*\s-]+/, "")));
  if (at === -1) return undefined;
  const line = oneLine((lines[at] ?? "").replace(/^[#>*\s-]+/, ""));
  // A heading introduces a list: its first items are the steps.
  const items = lines
    .slice(at + 1, at + 6)
    .filter((one) => /^\s*(?:[-*]|\d+[.)])\s/.test(one))
    .map((one) => oneLine(one.replace(/^\s*(?:[-*]|\d+[.)])\s+/, "")));
  return shortenWords([line, ...(line.length < 60 ? items : [])].join(" "), 50);
}

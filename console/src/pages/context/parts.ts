/** The parts of a window, as the bar shows them: pure, so that the bar and the list agree. */
import type { ContextView, TraceItem } from "./queries.ts";

export interface WindowPart {
  name: string;
  /** The custom property of its colour. */
  colour: string;
  tokens: number;
  items: number;
}

const charsPerToken = 4;

/** System addition, summaries, recalled, tail, free, in the order in which they are sent. */
export function listParts(view: ContextView, budget: number): WindowPart[] {
  const shown = view.trace.filter((item) => item.in);
  const sum = (kinds: readonly string[]): WindowPart["tokens"] =>
    shown.filter(({ kind }) => kinds.includes(kind)).reduce((total, { tokens }) => total + tokens, 0);
  const countOf = (kinds: readonly string[]): number => shown.filter(({ kind }) => kinds.includes(kind)).length;
  const addition = Math.ceil((view.systemPromptAddition?.length ?? 0) / charsPerToken);
  const parts: WindowPart[] = [
    { name: "System addition", colour: "--role-system", tokens: addition, items: addition > 0 ? 1 : 0 },
    ...listSummaries(shown),
    { name: "Messages", colour: "--layer-0", tokens: sum(["message"]), items: countOf(["message"]) },
    {
      name: "Recalled",
      colour: "--layer-recall",
      tokens: sum(["recall", "memory", "note"]),
      items: countOf(["recall", "memory", "note"]),
    },
  ];
  const used = Math.max(
    view.estimatedTokens,
    parts.reduce((total, { tokens }) => total + tokens, 0),
  );
  const rest = view.estimatedTokens - parts.reduce((total, { tokens }) => total + tokens, 0);
  // What a provider counts beyond the texts of the items: roles, brackets, the ratio of its model.
  if (rest > 0) parts.push({ name: "Framing", colour: "--line-strong", tokens: rest, items: 0 });
  return [...parts, { name: "Free", colour: "--sunken", tokens: Math.max(0, budget - used), items: 0 }];
}

/** The summaries by depth, the deepest first, as they are sent. */
function listSummaries(shown: readonly TraceItem[]): WindowPart[] {
  const summaries = shown.filter(({ kind }) => kind === "summary");
  const depths = [...new Set(summaries.map(({ depth = 0 }) => depth))].sort((a, b) => b - a);
  return depths.map((depth) => {
    const own = summaries.filter((one) => (one.depth ?? 0) === depth);
    const tokens = own.reduce((total, one) => total + one.tokens, 0);
    const name = depth === 0 ? "Leaf summaries" : `Summaries of depth ${depth + 1}`;
    return { name, colour: `--layer-${Math.min(4, depth + 1)}`, tokens, items: own.length };
  });
}

/** The entry that a trace item names; undefined for summaries and memories. */
export function findSeq({ id }: TraceItem): number | undefined {
  const seq = /msg#(\d+)/.exec(id)?.[1];
  return seq === undefined ? undefined : Number(seq);
}

export interface Difference {
  added: string[];
  removed: string[];
}

/** Which items came into the window and which left it. */
export function compareViews(before: ContextView, after: ContextView): Difference {
  const names = (view: ContextView): Set<string> =>
    new Set(view.trace.filter((item) => item.in).map(({ kind, id }) => `${kind} ${id}`));
  const [old, now] = [names(before), names(after)];
  return { added: [...now].filter((name) => !old.has(name)), removed: [...old].filter((name) => !now.has(name)) };
}

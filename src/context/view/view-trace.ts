import type { StoredSummary } from "../dag.ts";
import type { TraceItem } from "../items.ts";
import type { ShownMessage } from "./message-groups.ts";
import type { CutItem } from "./summary-cut.ts";

export function traceItem({ summaries, tokens, why }: CutItem): TraceItem[] {
  return summaries.map(({ id, firstSeq, lastSeq, depth }, index) => ({
    kind: "summary",
    id,
    tokens: index === 0 ? tokens : 0,
    in: true,
    why,
    firstSeq,
    lastSeq,
    depth,
  }));
}

export function traceDropped(all: readonly StoredSummary[], retained: readonly StoredSummary[]): TraceItem[] {
  return all
    .filter((summary) => !retained.includes(summary))
    .map(({ id, tokens, firstSeq, lastSeq, depth }) => ({
      kind: "summary",
      id,
      tokens,
      in: false,
      why: "before the new session",
      firstSeq,
      lastSeq,
      depth,
    }));
}

export function traceMessage(one: ShownMessage, why: string): TraceItem {
  const id = one.until === undefined || one.until === one.seq ? `msg#${one.seq}` : `msg#${one.seq} to msg#${one.until}`;
  return { kind: "message", id, tokens: one.tokens, in: true, why: one.isCut ? `${why}; cut to its share` : why };
}

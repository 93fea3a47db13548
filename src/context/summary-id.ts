import { createHash } from "node:crypto";

/** What makes a summary this one and no other. */
export interface SummaryIdentity {
  conversation: string;
  depth: number;
  /** The ids of what it was made from, in order. */
  sources: readonly string[];
  content: string;
}

/** The same identity gives the same id, so that a write that is tried again is the same write. */
export function summaryId({ conversation, depth, sources, content }: SummaryIdentity): string {
  // A JSON array keeps the parts apart: no two different identities read alike.
  const text = JSON.stringify([conversation, depth, sources, content]);
  return `sum_${createHash("sha256").update(text).digest("hex").slice(0, 16)}`;
}

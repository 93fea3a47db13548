import type { Db, Store, Tx } from "../store/index.ts";
import { type ConversationRef, readSourceIds, type StoredSummary } from "./dag.ts";
import type { Frontier } from "./frontier.ts";
import { isRetained, rawAfter, type SessionBoundary } from "./session-boundary.ts";
import { summaryXml } from "./view/render-summaries.ts";
import { countTokens } from "./view/summary-cut.ts";
import { rawTokens } from "./window.ts";

export interface MeasureOptions {
  /** What precedes the session counts only as far as its context retains it. */
  boundary?: SessionBoundary;
  /** A message counts at most this many tokens: a view shows no more of it. */
  messageTokensMax?: number;
  timeZone?: string;
}

/** The size of a context as it is sent: the coarsest cut, with every tag, and the messages after it. */
export interface ContextSize {
  tokens: number;
  summaryTokens: number;
  rawTokens: number;
}

/** The tokens of a summary as a view shows it. */
export function countSummaryTokens(summary: StoredSummary, sources: readonly string[], timeZone?: string): number {
  return countTokens(summaryXml(summary, summary.kind === "leaf" ? [] : sources, timeZone));
}

/** The tokens of summaries as a view shows them, by id. */
export async function measureSummaries(
  db: Db | Tx,
  agent: string,
  summaries: readonly StoredSummary[],
  timeZone?: string,
): Promise<Map<string, number>> {
  const condensed = summaries.filter(({ kind }) => kind === "condensed");
  const sources = await readSourceIds(db, agent, condensed);
  return new Map(summaries.map((one) => [one.id, countSummaryTokens(one, sources.get(one.id) ?? [], timeZone)]));
}

export async function measureContext(
  store: Store,
  ref: ConversationRef,
  frontier: Frontier,
  { boundary, messageTokensMax, timeZone }: MeasureOptions = {},
): Promise<ContextSize> {
  const retained = frontier.summaries.filter((one) => isRetained(one, boundary));
  const sizes = await measureSummaries(store.db, ref.agent, retained, timeZone);
  const summaryTokens = [...sizes.values()].reduce((sum, tokens) => sum + tokens, 0);
  const raw = await rawTokens(store, ref, afterBoundary(frontier, boundary), messageTokensMax);
  return { tokens: summaryTokens + raw, summaryTokens, rawTokens: raw };
}

/** The frontier for reading raw messages: none before the session. */
export function afterBoundary(frontier: Frontier, boundary: SessionBoundary | undefined): Frontier {
  return { ...frontier, coveredSeq: rawAfter(frontier.coveredSeq, boundary) };
}

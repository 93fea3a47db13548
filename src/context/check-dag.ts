import type { Store } from "../store/index.ts";
import { readAfter } from "../transcript/index.ts";
import { type ConversationRef, readSources, readSummaries, type StoredSummary } from "./dag.ts";
import { loadFrontier } from "./frontier.ts";
import { getEntryMessage } from "./window.ts";

/** Checks every invariant of the summary DAG in every conversation; an empty list means no faults. */
export async function checkDag(store: Store): Promise<{ faults: string[]; checked: number }> {
  const states = await store.db.selectFrom("context_states").select(["agent", "conversation"]).execute();
  const faults: string[] = [];
  for (const ref of states) {
    for (const fault of await checkConversation(store, ref)) faults.push(`conversation ${ref.conversation}: ${fault}`);
  }
  return { faults, checked: states.length };
}

async function checkConversation(store: Store, ref: ConversationRef): Promise<string[]> {
  const faults: string[] = [];
  const frontier = await loadFrontier(store, ref);
  const covered: number[] = [];
  for (const summary of frontier.summaries) covered.push(...(await listLeaves(store, ref, summary, faults)));
  const onBranch: number[] = [];
  for (let after = 0; after < frontier.coveredSeq; ) {
    const page = await readAfter(store, ref.agent, frontier.path, { after, limit: 1000, content: "reference" });
    if (page.length === 0) break;
    onBranch.push(
      ...page.filter((entry) => entry.seq <= frontier.coveredSeq && getEntryMessage(entry)).map((entry) => entry.seq),
    );
    after = page.at(-1)?.seq ?? after;
  }
  if (covered.length !== onBranch.length || covered.some((seq, index) => seq !== onBranch[index])) {
    faults.push(`the summaries stand for ${covered.length} messages, the branch has ${onBranch.length} there`);
  }
  return faults;
}

/** The messages under a summary, in order; faults on the way are recorded. */
async function listLeaves(
  store: Store,
  ref: ConversationRef,
  summary: StoredSummary,
  faults: string[],
): Promise<number[]> {
  const sources = await readSources(store.db, ref.agent, summary);
  const note = (text: string) => faults.push(`${summary.id}: ${text}`);
  if (summary.kind === "leaf") {
    const seqs = sources.flatMap((source) => ("entrySeq" in source ? [source.entrySeq] : []));
    if (seqs.length !== summary.sourceMessageCount)
      note(`stands for ${summary.sourceMessageCount} messages, links ${seqs.length}`);
    return seqs;
  }
  const ids = sources.flatMap((source) => ("summary" in source ? [source.summary] : []));
  const children = await readSummaries(store.db, ref.agent, ids);
  if (children.length !== ids.length) note("links a summary that is gone");
  const sum = (pick: (child: StoredSummary) => number) => children.reduce((total, child) => total + pick(child), 0);
  if (children.some((child) => child.depth !== summary.depth - 1))
    note("its depth is not one more than that of its sources");
  if (children.some((child) => child.earliestAt < summary.earliestAt || child.latestAt > summary.latestAt))
    note("its times do not nest");
  if (sum((child) => child.sourceMessageTokens) !== summary.sourceMessageTokens)
    note("its message tokens do not add up");
  if (sum((child) => child.descendantCount + 1) !== summary.descendantCount) note("its descendants do not add up");
  if (sum((child) => child.descendantTokens + child.tokens) !== summary.descendantTokens)
    note("its descendants' tokens do not add up");
  const seqs: number[] = [];
  for (const child of children) seqs.push(...(await listLeaves(store, ref, child, faults)));
  return seqs;
}

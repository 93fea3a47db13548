import { VarveError } from "../domain/index.ts";
import type { AppendBatch, AppendedEntry, AppendResult, EntryRow } from "./port.ts";
import type { BranchTable } from "./schema.ts";

export interface EntryPlace {
  branch: number;
  seq: number;
}

/** What the log looks like where a batch is about to be written. */
export interface LogState {
  head: EntryPlace | undefined;
  branchCount: number;
  /** Where an entry of this conversation is, by its id. */
  find(id: string): EntryPlace | undefined;
  /** The last entry of a branch. */
  tipOf(branch: number): number | undefined;
}

export interface AppendPlan {
  rows: (EntryRow & EntryPlace)[];
  newBranches: Pick<BranchTable, "branch" | "parent_branch" | "fork_seq">[];
  tips: Map<number, number>;
  entries: AppendedEntry[];
  head: EntryPlace | undefined;
  branchCount: number;
  messages: number;
  tokens: number;
}

/**
 * Decides where each entry of a batch goes. Known ids are duplicates and change nothing. An entry whose parent is the
 * tip of its branch continues it; any other parent opens a new branch there. A parent nobody knows (a broken line, a
 * rotated file) does not lose the entry: it continues from the head, and the result says so.
 */
export function planAppend(batch: AppendBatch, log: LogState, nextSeq: () => number): AppendPlan {
  const plan: AppendPlan = {
    rows: [],
    newBranches: [],
    tips: new Map(),
    entries: [],
    head: log.head,
    branchCount: log.branchCount,
    messages: 0,
    tokens: 0,
  };
  const placed = new Map<string, EntryPlace>();
  for (const entry of batch.entries) {
    const known = placed.get(entry.id) ?? log.find(entry.id);
    if (known) {
      plan.entries.push({ id: entry.id, seq: known.seq, status: "duplicate" });
      continue;
    }
    const parent = parentOf(entry, plan, placed, log);
    const branch = branchFor(parent.place, plan, log);
    const seq = nextSeq();
    const place = { branch, seq };
    placed.set(entry.id, place);
    plan.tips.set(branch, seq);
    plan.rows.push({ ...entry, ...place });
    plan.entries.push({ id: entry.id, seq, status: parent.missing ? "orphan" : "appended" });
    plan.head = place;
    plan.tokens += entry.tokens;
    if (entry.countsAsMessage) plan.messages += 1;
  }
  return plan;
}

/** Two contents with one id: nothing may be overwritten, so the caller keeps the new one inside its entry. */
/** One of the statements of a batch found nothing to change. */
export function batchRefused(): VarveError {
  return new VarveError("REFUSED", "What the batch depends on has changed; nothing was written.");
}

/** What the batch of a name did, from where it was written down. */
export function repeatedResult(stored: string): AppendResult {
  return { ...(JSON.parse(stored) as AppendResult), repeated: true };
}

export function fileIdTaken(id: string): VarveError {
  return new VarveError("FILE_ID_TAKEN", `Another content is stored as ${id} already.`, {
    remedy: "Keep this one inside its message.",
  });
}

function parentOf(
  entry: EntryRow,
  plan: AppendPlan,
  placed: Map<string, EntryPlace>,
  log: LogState,
): { place: EntryPlace | undefined; missing: boolean } {
  if (entry.parentId === undefined) return { place: plan.head, missing: false };
  if (entry.parentId === null) return { place: undefined, missing: false };
  const place = placed.get(entry.parentId) ?? log.find(entry.parentId);
  return place ? { place, missing: false } : { place: plan.head, missing: true };
}

function branchFor(parent: EntryPlace | undefined, plan: AppendPlan, log: LogState): number {
  if (parent) {
    const tip = plan.tips.get(parent.branch) ?? log.tipOf(parent.branch);
    if (tip === undefined || tip <= parent.seq) return parent.branch;
  }
  plan.branchCount += 1;
  plan.newBranches.push({
    branch: plan.branchCount,
    parent_branch: parent?.branch ?? null,
    fork_seq: parent?.seq ?? null,
  });
  return plan.branchCount;
}

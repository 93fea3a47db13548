import { VarveError } from "../domain/index.ts";
import type { AppendBatch, AppendedEntry, AppendResult, EntryRow } from "./port.ts";
import type { BranchTable } from "./schema.ts";

export interface EntryPlace {
  branch: number;
  seq: number;
}

/** The state of the log that a batch is planned against. */
export interface LogState {
  head: EntryPlace | undefined;
  branchCount: number;
  find(id: string): EntryPlace | undefined;
  /** The sequence number of the last entry of a branch. */
  findTip(branch: number): number | undefined;
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
 * tip of its branch continues that branch; any other parent starts a new branch. An entry with an unknown parent (a
 * broken line, a rotated file) is not lost: it continues from the head, with status `orphan`.
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
    const parent = resolveParent(entry, plan, placed, log);
    const branch = assignBranch(parent.place, plan, log);
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

/** An attached statement with `mustChange` changed no row. */
export function batchRefusedError(): VarveError {
  return new VarveError("REFUSED", "The state this batch depends on has changed; nothing was written.");
}

/** Decodes the stored result of an earlier batch with the same idempotency key. */
export function parseRepeatedResult(stored: string): AppendResult {
  return { ...(JSON.parse(stored) as AppendResult), repeated: true };
}

/** Two contents share an id (a hash collision). Nothing is overwritten: the caller keeps the new content inside its entry. */ export function fileIdTakenError(
  id: string,
): VarveError {
  return new VarveError("FILE_ID_TAKEN", `Different content is already stored under the id ${id}.`, {
    remedy: "Store this content inside its message instead.",
  });
}

function resolveParent(
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

function assignBranch(parent: EntryPlace | undefined, plan: AppendPlan, log: LogState): number {
  if (parent) {
    const tip = plan.tips.get(parent.branch) ?? log.findTip(parent.branch);
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

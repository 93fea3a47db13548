import type { StoreTransaction } from "../store/index.ts";
import { type ContextLabel, categories, type Levels, type Memory, type MemoryDraft } from "./memory.ts";
import { loadMemories } from "./rows.ts";
import type { Candidate } from "./similar-memories.ts";
import {
  addRelation,
  addSources,
  closeVersion,
  countAccess,
  countSupport,
  insertMemory,
  joinSources,
  lowerConfidence,
  raiseConfidence,
  setConfidence,
} from "./write.ts";

export const decisionKinds = [
  "create",
  "skip",
  "merge",
  "support",
  "contextualize",
  "contradict",
  "supersede",
] as const;
export type DecisionKind = (typeof decisionKinds)[number];

/** How to store a candidate. All kinds except `create` refer to an existing memory. */
export interface Decision {
  kind: DecisionKind;
  match?: string;
  label: ContextLabel;
  reason: string;
  /** The merged text, when a model wrote one. */
  merged?: Levels;
}

/** The result of a decision. */
export interface AppliedDecision {
  decision: DecisionKind;
  reason: string;
  /** The memory that was written. */
  memory?: string;
  /** The existing memory that the decision refers to. */
  match?: string;
}

export interface Place {
  agent: string;
  scope: string;
}

/** The maximum number of versions followed to find the current one. */
const versionsMax = 1_000;

/**
 * Applies a decision within the transaction of its batch. The matching memory is read again: an earlier candidate of
 * the same batch or another process may have changed it.
 */
export async function applyDecision(
  tx: StoreTransaction,
  candidate: Candidate,
  decision: Decision,
  place: Place,
): Promise<AppliedDecision> {
  const match = decision.match === undefined ? undefined : await readCurrentVersion(tx, decision.match, place.scope);
  const kind = match ? restrictKind(decision.kind, candidate.draft, match) : "create";
  const { reason, label } = decision;
  const draft = { ...candidate.draft, label };
  const insert = (more: {
    draft?: MemoryDraft;
    after?: Memory;
    lineage?: Memory;
    until?: { time: number; by: string };
  }) => insertMemory(tx, more.draft ?? draft, { ...place, ...more, vector: candidate.vector });
  if (!match || kind === "create") return { decision: "create", reason, memory: await insert({}) };
  const done = { decision: kind, reason, match: match.id };
  switch (kind) {
    case "skip":
      await countAccess(tx, match.id, 1, tx.clock.now());
      return done;
    case "support":
      await countSupport(tx, match.id, label, 1);
      await setConfidence(tx, match.id, raiseConfidence(match.confidence));
      await addSources(
        tx,
        match.id,
        joinSources(match.sources, draft.sources).slice(match.sources.length),
        match.sources.length,
      );
      return done;
    case "merge":
      return { ...done, memory: await merge(tx, match, draft, decision.merged, insert) };
    case "supersede":
      return { ...done, memory: await supersede(tx, match, draft, insert) };
    case "contextualize": {
      const memory = await insert({});
      await addRelation(tx, memory, match.id, { kind: "contextualizes", label }, tx.clock.now());
      return { ...done, memory };
    }
    case "contradict": {
      await countSupport(tx, match.id, label, -1);
      await setConfidence(tx, match.id, lowerConfidence(match.confidence));
      const replaces = categories[draft.category].versioned && draft.category === match.category && label === "general";
      const memory = replaces ? await supersede(tx, match, draft, insert) : await insert({});
      await addRelation(tx, memory, match.id, { kind: "contradicts", label }, tx.clock.now());
      return { ...done, memory };
    }
  }
}

/** Restricts a decision to what the category allows: events and cases are only added, and not all have versions. */
function restrictKind(kind: DecisionKind, draft: MemoryDraft, match: Memory): DecisionKind {
  const rules = categories[draft.category];
  const sameCategory = draft.category === match.category;
  if (draft.category === "profile" && sameCategory && kind !== "skip" && kind !== "support") return "merge";
  if (kind === "merge") return rules.merges && sameCategory ? "merge" : "create";
  if (kind === "supersede") {
    if (rules.versioned && sameCategory) return "supersede";
    return rules.merges && sameCategory ? "merge" : "create";
  }
  return kind;
}

type Insert = (more: {
  draft?: MemoryDraft;
  after?: Memory;
  lineage?: Memory;
  until?: { time: number; by: string };
}) => Promise<string>;

async function merge(
  tx: StoreTransaction,
  match: Memory,
  draft: MemoryDraft,
  merged: Levels | undefined,
  insert: Insert,
): Promise<string> {
  const time = Math.max(draft.validFrom, match.validFrom);
  const both: MemoryDraft = {
    ...draft,
    ...(merged ?? joinLevels(match, draft)),
    importance: Math.max(match.importance, draft.importance),
    confidence: Math.max(match.confidence, draft.confidence),
    validFrom: time,
    sources: joinSources(match.sources, draft.sources),
    fiction: match.fiction && draft.fiction,
  };
  const memory = await insert({ draft: both, after: match });
  await closeVersion(tx, match.id, time, memory);
  await copySupport(tx, match, memory);
  return memory;
}

/** Merges without a model: a new value of the same fact replaces the old one; other text is appended. */
export function joinLevels(match: Memory, draft: MemoryDraft): Levels {
  if (match.factKey !== undefined && match.factKey === draft.factKey) return draft;
  const join = (first: string, second: string) => (first.includes(second) ? first : `${first}\n${second}`);
  return {
    abstract: join(match.abstract, draft.abstract).replaceAll("\n", " "),
    overview: join(match.overview, draft.overview),
    content: join(match.content, draft.content),
  };
}

/** Copies support and relations to the new version of a merged memory. */
async function copySupport(tx: StoreTransaction, match: Memory, memory: string): Promise<void> {
  await tx.db.deleteFrom("memory_support").where("memory", "=", memory).execute();
  const support = Object.entries(match.support).map(([label, counts]) => ({ memory, label, ...counts }));
  if (support.length > 0) await tx.db.insertInto("memory_support").values(support).execute();
  for (const relation of match.relations) await addRelation(tx, memory, relation.memory, relation, match.createdAt);
}

/** Supersedes a memory. A statement older than the current version is inserted as a past version instead. */
async function supersede(tx: StoreTransaction, match: Memory, draft: MemoryDraft, insert: Insert): Promise<string> {
  const keyed = { ...draft, factKey: match.factKey ?? draft.factKey };
  if (draft.validFrom < match.validFrom) {
    return insert({ draft: keyed, lineage: match, until: { time: match.validFrom, by: match.id } });
  }
  const memory = await insert({ draft: keyed, after: match });
  await closeVersion(tx, match.id, draft.validFrom, memory);
  return memory;
}

async function readCurrentVersion(tx: StoreTransaction, id: string, scope: string): Promise<Memory | undefined> {
  let next: string | null = id;
  for (let step = 0; next !== null && step < versionsMax; step += 1) {
    const row: Awaited<ReturnType<typeof readRow>> = await readRow(tx, next, scope);
    if (!row) return undefined;
    if (row.invalidated_at === null) return (await loadMemories(tx.db, [row]))[0];
    next = row.superseded_by;
  }
  return undefined;
}

function readRow(tx: StoreTransaction, id: string, scope: string) {
  return tx.db.selectFrom("memories").selectAll().where("id", "=", id).where("scope", "=", scope).executeTakeFirst();
}

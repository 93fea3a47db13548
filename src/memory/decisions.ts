import type { StoreTransaction } from "../store/index.ts";
import { compareFacts } from "./compare/compare-facts.ts";
import { type ContextLabel, categories, type Levels, type Memory, type MemoryDraft } from "./memory.ts";
import { loadMemories } from "./rows.ts";
import type { Candidate } from "./similar-memories.ts";
import { extractTerms } from "./similarity.ts";
import { getFactText, placeVersion } from "./versions.ts";
import {
  addRelation,
  addSources,
  closeVersion,
  confirmMemory,
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
  /** Whether the built-in rules have shown that the match is the same fact. */
  byRules?: boolean;
  /** Memories that it may be in conflict with. */
  conflicts?: readonly string[];
}

/** The result of a decision. */
export interface AppliedDecision {
  decision: DecisionKind;
  reason: string;
  /** The memory that was written. */
  memory?: string;
  /** The existing memory that the decision refers to. */
  match?: string;
  /** Memories that it may be in conflict with; all of them are kept. */
  conflicts?: string[];
}

export interface Place {
  agent: string;
  scope: string;
}

/** The maximum number of versions followed to find the current one. */
const versionsMax = 1_000;
const conflictsMax = 5;

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
  const { reason, label } = decision;
  const draft = { ...candidate.draft, label };
  const kind = match ? restrictKind(decision, draft, match) : "create";
  const insert: Insert = (more) =>
    insertMemory(tx, more.draft ?? draft, { ...place, ...more, vector: candidate.vector });
  if (!match || kind === "create") {
    const memory = await insert({});
    const isRefused = match !== undefined && decision.kind !== "create";
    const others = [...(decision.conflicts ?? []), ...(isRefused ? [match.id] : [])];
    const conflicts = await linkConflicts(tx, memory, others, place.scope);
    return { decision: "create", reason, memory, ...(conflicts.length === 0 ? {} : { conflicts }) };
  }
  const done = { decision: kind, reason, match: match.id };
  switch (kind) {
    case "skip":
      await countAccess(tx, match.id, 1, tx.clock.now());
      // A person who stores a fact confirms it; reading the same message again does not.
      if (draft.extractor === "store") await confirmMemory(tx, match.id);
      return done;
    case "support":
      await confirmMemory(tx, match.id);
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
    case "supersede": {
      const placed = await placeVersion(tx, match, draft, { ...place, vector: candidate.vector });
      if ("repeated" in placed) return { decision: "skip", reason: "repetition", match: placed.repeated.id };
      const conflicts = await linkConflicts(tx, placed.memory, decision.conflicts ?? [], place.scope);
      return { ...done, ...placed, ...(conflicts.length === 0 ? {} : { conflicts }) };
    }
    case "contextualize": {
      const memory = await insert({});
      await addRelation(tx, memory, match.id, { kind: "contextualizes", label }, tx.clock.now());
      return { ...done, memory };
    }
    case "contradict": {
      await countSupport(tx, match.id, label, -1);
      await setConfidence(tx, match.id, lowerConfidence(match.confidence));
      const replaces = categories[draft.category].versioned && draft.category === match.category && label === "general";
      const placed = replaces
        ? await placeVersion(tx, match, draft, { ...place, vector: candidate.vector })
        : undefined;
      const memory = placed && "memory" in placed ? placed.memory : await insert({});
      await addRelation(tx, memory, match.id, { kind: "contradicts", label }, tx.clock.now());
      return { ...done, memory };
    }
  }
}

/**
 * Restricts a decision to what the category allows (events and cases are only added, and not all have versions), and a
 * model's decision to memories that the new text speaks about.
 */
function restrictKind({ kind, byRules }: Decision, draft: MemoryDraft, match: Memory): DecisionKind {
  if (byRules) return kind;
  const rules = categories[draft.category];
  const sameCategory = draft.category === match.category;
  if (draft.category === "profile" && sameCategory && kind !== "skip" && kind !== "support") return "merge";
  if (kind === "merge") return rules.merges && sameCategory ? "merge" : "create";
  if (kind === "supersede") {
    if (rules.versioned && sameCategory) return speaksAbout(draft, match) ? "supersede" : "create";
    return rules.merges && sameCategory ? "merge" : "create";
  }
  if (kind === "contradict" && rules.versioned && sameCategory && draft.label === "general") {
    return speaksAbout(draft, match) ? "contradict" : "create";
  }
  return kind;
}

/** Whether a new text speaks about the value of a memory, and not only about the same subject. */
function speaksAbout(draft: MemoryDraft, match: Memory): boolean {
  const { relation } = compareFacts(draft.abstract, match.abstract);
  if (relation !== "different") return true;
  if (draft.factKey === undefined || draft.factKey !== match.factKey) return false;
  const topic = new Set(extractTerms(draft.factKey.replace(/^[^:]*:/, "")));
  const stated = new Set(extractTerms(`${draft.abstract}\n${draft.content}`));
  return extractTerms(match.abstract).some((term) => stated.has(term) && !topic.has(term));
}

/** Links memories that may be in conflict, in both directions. Returns the ones that are still believed. */
export async function linkConflicts(
  tx: StoreTransaction,
  memory: string,
  others: readonly string[],
  scope: string,
): Promise<string[]> {
  const linked: string[] = [];
  for (const other of others.slice(0, conflictsMax)) {
    const current = await readCurrentVersion(tx, other, scope);
    if (!current || current.id === memory) continue;
    const relation = { kind: "conflicts" as const, label: "general" as const };
    await addRelation(tx, memory, current.id, relation, tx.clock.now());
    await addRelation(tx, current.id, memory, relation, tx.clock.now());
    linked.push(current.id);
  }
  return linked;
}

type Insert = (more: { draft?: MemoryDraft; after?: Memory }) => Promise<string>;

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
    ...(merged && keepsValues(merged, match) ? merged : joinLevels(match, draft)),
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

/** Whether a merged text contains every name and number of the memory it takes the place of. */
function keepsValues(merged: Levels, match: Memory): boolean {
  const text = `${merged.abstract}\n${merged.overview}\n${merged.content}`.toLowerCase();
  const values = match.abstract.slice(1).match(/\d+(?:[.,:]\d+)*|(?<=\s)\p{Lu}[\p{L}-]+/gu) ?? [];
  return values.every((value) => text.includes(value.toLowerCase()));
}

/** Merges without a model: a text that takes the place of the other replaces it; any other text is appended. */
function joinLevels(match: Memory, draft: MemoryDraft): Levels {
  const { relation } = compareFacts(getFactText(draft), getFactText(match));
  if (relation === "update" || relation === "same") return draft;
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

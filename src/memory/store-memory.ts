import { requireWritable, type Visibility, writeScope } from "../authorization/index.ts";
import { VarveError } from "../domain/index.ts";
import type { NewMemoryRows, Store, StoreTransaction } from "../store/index.ts";
import { annotateDates, findSentences } from "../text/index.ts";
import { findSlotKey, speaksOfChange } from "./compare/compare-facts.ts";
import { createTextKey, isTextKey } from "./compare/text-key.ts";
import { type AppliedDecision, applyDecision } from "./decisions.ts";
import { eraseMemoryVersions } from "./erase-memories.ts";
import { comparedMax, decideByRules, duplicateFrom } from "./extract/decide.ts";
import { parseFact } from "./extract/facts.ts";
import { type Category, categories, type Memory, type MemoryDraft, type Source, type Trust } from "./memory.ts";
import type { MemoryContext } from "./memory-context.ts";
import { getMemory, readHistory } from "./read.ts";
import { memoryFromRow } from "./rows.ts";
import { type Candidate, findSimilar, type SimilarMemory } from "./similar-memories.ts";
import { computeWordCosine, createWordCosine, extractIndexTerms } from "./similarity.ts";
import { parseTemporal } from "./temporal.ts";
import { correctVersion } from "./versions.ts";
import { toMemoryRows } from "./write.ts";

export interface NewMemory {
  text: string;
  category?: Category;
  importance?: number;
  scope?: string;
  validFrom?: number;
  /** Skip the check for duplicates. */
  force?: boolean;
  /** The id of a memory whose place it takes. */
  replaces?: string;
  trust?: Trust;
  sources?: Source[];
}

const givenImportance = 0.7;
const givenConfidence = 0.9;
const abstractCharsMax = 300;

/** The memories that a new one may repeat, replace or be in conflict with. */
async function findComparable(context: MemoryContext, scope: string, candidate: Candidate): Promise<SimilarMemory[]> {
  // A text that says that something changed may share few words with the memory it is about.
  const isChange = speaksOfChange(candidate.draft.content);
  return findSimilar(context.store, scope, candidate, {
    limit: comparedMax,
    ...(isChange ? { rarest: true } : { duplicatesFrom: duplicateFrom }),
  });
}

/** The fast path: writes the memory if nothing similar exists, which is the common case. Returns whether it did. */
async function insertUnlessDuplicate(
  { store }: MemoryContext,
  scope: string,
  draft: MemoryDraft,
  rows: NewMemoryRows,
  force = false,
): Promise<boolean> {
  // Memories with the same fact key, and those that it says have changed, may share few words with it.
  const { factKey } = draft;
  if (!force && ((factKey !== undefined && !isTextKey(factKey)) || speaksOfChange(draft.content))) return false;
  const unless = {
    scope,
    words: extractIndexTerms(draft.abstract),
    cosine: duplicateFrom,
    ...(factKey === undefined ? {} : { factKey }),
  };
  const like = await store.insertMemory(rows, force ? undefined : unless);
  if (like.length === 0) return true;
  const alike = createWordCosine(draft.abstract);
  if (like.some(({ abstract, score }) => score === 1 || alike(abstract) >= duplicateFrom)) return false;
  await store.insertMemory(rows);
  return true;
}

/** Builds the result from the rows: no existing memory changed, so nothing has to be read. */
function describeCreated(draft: MemoryDraft, { row }: NewMemoryRows): AppliedDecision & { current: Memory } {
  const support = { [draft.label]: { confirmed: 1, contradicted: 0 } };
  const current: Memory = { ...memoryFromRow(row), sources: draft.sources, relations: [], support };
  return { decision: "create", reason: "no similar memory exists", memory: current.id, current };
}

/** Stores a memory on request. A duplicate is not stored again unless `force` is set. */
export async function storeMemory(
  context: MemoryContext,
  visibility: Visibility,
  wanted: NewMemory,
): Promise<AppliedDecision & { current: Memory }> {
  const scope = writeScope(visibility, wanted.scope);
  const place = { agent: visibility.agent, scope };
  // It is embedded later, in the background, so that storing does not wait for a model.
  const candidate: Candidate = { draft: createDraft(context, wanted) };
  const { draft } = candidate;
  const rows = toMemoryRows(draft, place, context.store);
  if (wanted.replaces !== undefined) return replaceMemory(context, visibility, candidate, place, wanted.replaces);
  if (await insertUnlessDuplicate(context, scope, draft, rows, wanted.force)) return describeCreated(draft, rows);
  const decision = decideByRules(candidate, await findComparable(context, scope, candidate), context);
  if (decision.match === undefined && decision.conflicts === undefined) {
    await context.store.insertMemory(rows);
    return describeCreated(draft, rows);
  }
  const applied = await context.store.transaction(async (tx) => {
    await tx.lock(`memories ${scope}`);
    return applyDecision(tx, candidate, decision, place);
  });
  const id = applied.memory ?? applied.match ?? "";
  return { ...applied, current: await getMemory(context.store.db, { ...visibility, system: true }, id) };
}

/** Stores a memory in the place of another one, because the caller says so. */
async function replaceMemory(
  context: MemoryContext,
  visibility: Visibility,
  candidate: Candidate,
  place: { agent: string; scope: string },
  id: string,
): Promise<AppliedDecision & { current: Memory }> {
  const known = await getCurrent(context, visibility, id);
  if (known.scope !== place.scope) {
    throw new VarveError("BAD_REQUEST", `The memory ${id} is in the scope ${known.scope}, not in ${place.scope}.`, {
      remedy: `Send scope ${known.scope}, or store the new memory without replaces.`,
    });
  }
  const { label } = candidate.draft;
  const decision = { kind: "supersede" as const, match: id, label, reason: "the caller said so", byRules: true };
  const applied = await context.store.transaction(async (tx) => {
    await tx.lock(`memories ${place.scope}`);
    return applyDecision(tx, candidate, decision, place);
  });
  const written = applied.memory ?? applied.match ?? id;
  return { ...applied, current: await getMemory(context.store.db, { ...visibility, system: true }, written) };
}

function createDraft(context: MemoryContext, wanted: NewMemory): MemoryDraft {
  const now = context.store.clock.now();
  const text = annotateDates(checkText(wanted.text), wanted.validFrom ?? now, context.timeZone);
  const fact = parseFact(text) ?? parseFact(`Remember that ${text}`);
  const category = wanted.category ?? fact?.category ?? "entities";
  return {
    category,
    ...toLevels(text),
    importance: checkShare(wanted.importance ?? givenImportance, "importance"),
    confidence: givenConfidence,
    ...parseTemporal(text, wanted.validFrom ?? now, context.timeZone),
    validFrom: wanted.validFrom ?? now,
    ...toFactKey(
      findSlotKey(text, context) ?? (fact?.category === category ? fact.factKey : undefined) ?? createTextKey(text),
    ),
    trust: wanted.trust ?? "owner",
    extractor: "store",
    fiction: false,
    label: "general",
    sources: wanted.sources ?? [],
  };
}

function toFactKey(factKey: string | undefined): { factKey?: string } {
  return factKey === undefined ? {} : { factKey };
}

const abstractCharsLeast = 40;
/** The first sentences are looked for in this part of a text. */
const firstCharsMax = 4_000;

/** The first sentence, or the first ones when it is only a heading: "Meeting notes." */
function takeFirstSentences(text: string): string {
  let first = "";
  for (const { end } of findSentences(text, { start: 0, end: Math.min(text.length, firstCharsMax) })) {
    first = text.slice(0, end).trim();
    if (first.length >= abstractCharsLeast || /[。！？]$/u.test(first)) break;
  }
  return first === "" ? text : first;
}

function toLevels(text: string): Pick<MemoryDraft, "abstract" | "overview" | "content"> {
  const first = takeFirstSentences(text);
  const abstract = first.length > abstractCharsMax ? `${first.slice(0, abstractCharsMax).toWellFormed()}…` : first;
  return { abstract: abstract.replaceAll(/\s+/g, " "), overview: `- ${abstract}`, content: text };
}

export interface MemoryPatch {
  text?: string;
  importance?: number;
  category?: Category;
  /** Correct a version of the past for the time it was valid; what is believed now stays. */
  past?: boolean;
}

/** Changes a memory by adding a version; the previous one stays in its history. */
export async function updateMemory(
  context: MemoryContext,
  visibility: Visibility,
  id: string,
  patch: MemoryPatch,
): Promise<Memory> {
  if (patch.text === undefined && patch.importance === undefined && patch.category === undefined) {
    throw new VarveError("BAD_REQUEST", "The request contains no change.", {
      remedy: "Send text, importance or category.",
    });
  }
  const before = await getCurrent(context, visibility, id);
  const { text } = patch;
  const now = context.store.clock.now();
  // A caller with an old id most often means the memory, not its past; the error names the version to change.
  if (!patch.past && before.invalidatedAt !== undefined && before.invalidatedAt <= now)
    throw createConflictError(before);
  const changed = text === undefined ? {} : changeText(context, checkText(text), now);
  const draft: MemoryDraft = {
    ...before,
    ...changed,
    importance: checkShare(patch.importance ?? before.importance, "importance"),
    category: patch.category ?? before.category,
    extractor: "store",
    label: "general",
  };
  const memory = await context.store.transaction(async (tx) => {
    await tx.lock(`memories ${before.scope}`);
    const current = await getMemory(tx.db, visibility, id);
    if (current.invalidatedAt !== before.invalidatedAt) throw createConflictError(current);
    return correctVersion(tx, current, draft, { agent: visibility.agent, scope: before.scope });
  });
  return getMemory(context.store.db, visibility, memory);
}

function changeText(context: MemoryContext, text: string, now: number): Partial<MemoryDraft> {
  return {
    ...toLevels(text),
    ...parseTemporal(text, now, context.timeZone),
    ...toFactKey(findSlotKey(text, context) ?? createTextKey(text)),
  };
}

/** Invalidates a memory; it stays in the history. A version of the past is only marked as forgotten. */
export async function forgetMemory(context: MemoryContext, visibility: Visibility, id: string): Promise<Memory> {
  const { scope, validFrom, invalidatedAt } = await getCurrent(context, visibility, id);
  const now = context.store.clock.now();
  const isPast = invalidatedAt !== undefined && invalidatedAt <= now;
  await context.store.transaction(async (tx) => {
    await tx.lock(`memories ${scope}`);
    await tx.db
      .updateTable("memories")
      .set({ forgotten_at: now, ...(isPast ? {} : { invalidated_at: Math.max(now, validFrom) }) })
      .where("id", "=", id)
      .where("scope", "=", scope)
      .where("forgotten_at", "is", null)
      .execute();
  });
  return getMemory(context.store.db, visibility, id);
}

/** Takes a memory back that was forgotten, unless another version of it is believed now. */
export async function restoreMemory(context: MemoryContext, visibility: Visibility, id: string): Promise<Memory> {
  const { store } = context;
  await store.transaction(async (tx) => {
    const memory = await getMemory(tx.db, visibility, id);
    requireWritable(visibility, memory.scope);
    await tx.lock(`memories ${memory.scope}`);
    if (memory.forgottenAt === undefined) {
      throw new VarveError("CONFLICT", `The memory ${id} is not forgotten.`, { remedy: "There is nothing to undo." });
    }
    const now = store.clock.now();
    const versions = await readHistory(tx.db, visibility, id);
    const isBelieved = versions.some(
      (one) =>
        one.id !== id && one.forgottenAt === undefined && (one.invalidatedAt === undefined || one.invalidatedAt > now),
    );
    if (isBelieved) {
      throw new VarveError("CONFLICT", `Another version of the memory ${id} is believed now.`, {
        remedy: "Correct that version instead.",
      });
    }
    // Forgetting ended its validity at the same time; a version of the past keeps the end that it had.
    const wasEnded = memory.invalidatedAt !== undefined && memory.invalidatedAt >= memory.forgottenAt;
    await tx.db
      .updateTable("memories")
      .set({ forgotten_at: null, ...(wasEnded ? { invalidated_at: null } : {}) })
      .where("id", "=", id)
      .where("scope", "=", memory.scope)
      .execute();
  });
  return getMemory(store.db, visibility, id);
}

async function getCurrent(context: MemoryContext, visibility: Visibility, id: string): Promise<Memory> {
  const memory = await getMemory(context.store.db, visibility, id);
  requireWritable(visibility, memory.scope);
  if (memory.forgottenAt === undefined && !isEmptyVersion(memory)) return memory;
  throw createConflictError(memory);
}

/** A version that another one has corrected is valid at no time. */
function isEmptyVersion({ validFrom, invalidatedAt }: Memory): boolean {
  return invalidatedAt !== undefined && invalidatedAt <= validFrom;
}

function createConflictError({ id, supersededBy, forgottenAt }: Memory): VarveError {
  const what = forgottenAt === undefined ? `was replaced by ${supersededBy}` : "was forgotten";
  return new VarveError("CONFLICT", `The memory ${id} ${what}.`, {
    remedy:
      supersededBy === undefined
        ? "Store it again if it is true again."
        : `Use ${supersededBy}, or send past: true (--past) to correct this version for the time it was valid.`,
  });
}

const textCharsMax = 20_000;

function checkText(text: string): string {
  const trimmed = text.trim();
  const isText = trimmed !== "" && trimmed.length <= textCharsMax && !trimmed.includes("\u0000");
  if (isText && trimmed.isWellFormed()) return trimmed;
  throw new VarveError(
    "BAD_REQUEST",
    `The text of a memory must have 1 to ${textCharsMax} characters, without NUL or invalid Unicode.`,
    {
      remedy: "Send one fact as text.",
    },
  );
}

function checkShare(value: number, name: string): number {
  if (value >= 0 && value <= 1) return value;
  throw new VarveError("BAD_REQUEST", `${name} ${value} is not a number from 0 to 1.`, {
    remedy: `Use a number in this range, or omit ${name} for the default of ${categories.entities.importance}.`,
  });
}

const sameFrom = 0.6;

/** Erases a memory with all versions, vectors, recalls and similar reviews. Returns the ids of the versions. */
export async function purgeMemory(store: Store, visibility: Visibility, id: string): Promise<{ versions: string[] }> {
  return store.transaction(async (tx) => {
    const versions = await readHistory(tx.db, visibility, id);
    for (const { scope } of versions) requireWritable(visibility, scope);
    const ids = versions.map((one) => one.id);
    await purgeReviews(tx, versions);
    await eraseMemoryVersions(tx, ids);
    return { versions: ids };
  });
}

/** Removes review candidates that are similar to the memory. */
async function purgeReviews(tx: StoreTransaction, versions: readonly Memory[]): Promise<void> {
  const scopes = [...new Set(versions.map((one) => one.scope))];
  const rows = await tx.db
    .selectFrom("memory_reviews")
    .select(["id", "candidate"])
    .where("scope", "in", scopes)
    .execute();
  for (const row of rows) {
    const { abstract } = JSON.parse(row.candidate) as MemoryDraft;
    if (!versions.some((one) => computeWordCosine(one.abstract, abstract) >= sameFrom)) continue;
    await tx.db.deleteFrom("memory_reviews").where("id", "=", row.id).execute();
  }
}

import { type Visibility, writeScope } from "../authorization/index.ts";
import { VarveError } from "../domain/index.ts";
import type { NewMemoryRows } from "../store/index.ts";
import { type Applied, applyDecision } from "./decisions.ts";
import { comparable, decideByRules, duplicateFrom, shownMax } from "./extract/decide.ts";
import { parseFact } from "./extract/facts.ts";
import { type Category, categories, type Memory, type MemoryDraft, type Source, type Trust } from "./memory.ts";
import type { MemoryContext } from "./memory-context.ts";
import { getMemory } from "./read.ts";
import { closeReview, getReview } from "./review.ts";
import { memoryFromRow } from "./rows.ts";
import { type Candidate, findSimilar, type SimilarMemories } from "./similar-memories.ts";
import { indexTerms, likenessTo } from "./similarity.ts";
import { parseTemporal } from "./temporal.ts";
import { closeVersion, insertMemory, toMemoryRows } from "./write.ts";

export interface NewMemory {
  text: string;
  category?: Category;
  importance?: number;
  scope?: string;
  validFrom?: number;
  /** Written as it is, also when the same is known. */
  force?: boolean;
  trust?: Trust;
  sources?: Source[];
}

const givenImportance = 0.7;
const givenConfidence = 0.9;
const abstractCharsMax = 300;

/** What the rules may take for the same: it shares a key, or nearly all words. */
async function findDuplicates(context: MemoryContext, scope: string, candidate: Candidate): Promise<SimilarMemories[]> {
  const near = await findSimilar(context.store, scope, candidate, { limit: shownMax, duplicatesFrom: duplicateFrom });
  return comparable(near, candidate);
}

/** Whether it was written at once, because nothing there may be the same: most of what is kept. */
async function insertUnlessDuplicate(
  { store }: MemoryContext,
  scope: string,
  draft: MemoryDraft,
  rows: NewMemoryRows,
  force = false,
): Promise<boolean> {
  // A key and a profile belong to what may share no word with them.
  if (!force && (draft.factKey !== undefined || draft.category === "profile")) return false;
  const unless = { scope, words: indexTerms(draft.abstract), cosine: duplicateFrom };
  const like = await store.insertMemory(rows, force ? undefined : unless);
  if (like.length === 0) return true;
  const alike = likenessTo(draft.abstract);
  if (like.some(({ abstract }) => alike(abstract) >= duplicateFrom)) return false;
  await store.insertMemory(rows);
  return true;
}

/** Nothing that was there is touched, so that there is nothing to read again. */
function created(draft: MemoryDraft, { row }: NewMemoryRows): Applied & { current: Memory } {
  const support = { [draft.label]: { confirmed: 1, contradicted: 0 } };
  const current: Memory = { ...memoryFromRow(row), sources: draft.sources, relations: [], support };
  return { decision: "create", reason: "nothing like it is known", memory: current.id, current };
}

/** Keeps what somebody wrote down by hand. What is known already is not kept twice unless that is asked for. */
export async function storeMemory(
  context: MemoryContext,
  visibility: Visibility,
  wanted: NewMemory,
): Promise<Applied & { current: Memory }> {
  const scope = writeScope(visibility, wanted.scope);
  const place = { agent: visibility.agent, scope };
  // Its vector follows in the background: nothing that is stored by hand waits for a model.
  const candidate: Candidate = { draft: createDraft(context, wanted) };
  const { draft } = candidate;
  const rows = toMemoryRows(draft, place, context.store);
  if (await insertUnlessDuplicate(context, scope, draft, rows, wanted.force)) return created(draft, rows);
  const decision = decideByRules(candidate, await findDuplicates(context, scope, candidate));
  if (decision.match === undefined) {
    await context.store.insertMemory(rows);
    return created(draft, rows);
  }
  const applied = await context.store.transaction(async (tx) => {
    await tx.lock(`memories ${scope}`);
    return applyDecision(tx, candidate, decision, place);
  });
  const id = applied.memory ?? applied.match ?? "";
  return { ...applied, current: await getMemory(context.store.db, { ...visibility, system: true }, id) };
}

function createDraft(context: MemoryContext, wanted: NewMemory): MemoryDraft {
  const text = checkText(wanted.text);
  const fact = parseFact(text) ?? parseFact(`Remember that ${text}`);
  const now = context.store.clock.now();
  const category = wanted.category ?? fact?.category ?? "entities";
  return {
    category,
    ...toLevels(text),
    importance: share(wanted.importance ?? givenImportance, "importance"),
    confidence: givenConfidence,
    ...parseTemporal(text, wanted.validFrom ?? now, context.timeZone),
    validFrom: wanted.validFrom ?? now,
    ...(fact?.factKey === undefined || fact.category !== category ? {} : { factKey: fact.factKey }),
    trust: wanted.trust ?? "owner",
    extractor: "store",
    fiction: false,
    label: "general",
    sources: wanted.sources ?? [],
  };
}

function toLevels(text: string): Pick<MemoryDraft, "abstract" | "overview" | "content"> {
  const first = /^[\s\S]*?[.!?。！？](?=\s|$)|^[^\n]+/.exec(text)?.[0] ?? text;
  const abstract = first.length > abstractCharsMax ? `${first.slice(0, abstractCharsMax).toWellFormed()}…` : first;
  return { abstract: abstract.replaceAll(/\s+/g, " "), overview: `- ${abstract}`, content: text };
}

export interface MemoryPatch {
  text?: string;
  importance?: number;
  category?: Category;
}

/** Changes a memory by another version; the one before stays readable behind it. */
export async function updateMemory(
  context: MemoryContext,
  visibility: Visibility,
  id: string,
  patch: MemoryPatch,
): Promise<Memory> {
  if (patch.text === undefined && patch.importance === undefined && patch.category === undefined) {
    throw new VarveError("BAD_REQUEST", "Nothing to change is named.", {
      remedy: "Send text, importance or category.",
    });
  }
  const before = await getCurrent(context, visibility, id);
  const now = context.store.clock.now();
  const { text } = patch;
  const draft: MemoryDraft = {
    ...before,
    ...(text === undefined ? {} : { ...toLevels(checkText(text)), ...parseTemporal(text, now, context.timeZone) }),
    importance: share(patch.importance ?? before.importance, "importance"),
    category: patch.category ?? before.category,
    validFrom: Math.max(now, before.validFrom),
    extractor: "store",
    label: "general",
  };
  const memory = await context.store.transaction(async (tx) => {
    await tx.lock(`memories ${before.scope}`);
    const current = await getMemory(tx.db, visibility, id);
    if (current.invalidatedAt !== undefined) throw changed(current);
    const place = { agent: visibility.agent, scope: before.scope, after: before };
    const written = await insertMemory(tx, draft, place);
    await closeVersion(tx, id, draft.validFrom, written);
    return written;
  });
  return getMemory(context.store.db, visibility, memory);
}

/** Stops believing a memory; history still has it. */
export async function forgetMemory(context: MemoryContext, visibility: Visibility, id: string): Promise<Memory> {
  const { scope } = await getCurrent(context, visibility, id);
  const now = context.store.clock.now();
  await context.store.transaction(async (tx) => {
    await tx.lock(`memories ${scope}`);
    await tx.db
      .updateTable("memories")
      .set({ invalidated_at: now, forgotten_at: now })
      .where("id", "=", id)
      .where("scope", "=", scope)
      .where("invalidated_at", "is", null)
      .execute();
  });
  return getMemory(context.store.db, visibility, id);
}

/** Takes what was held for review into the store, or turns it away. */
export async function decideReview(
  context: MemoryContext,
  visibility: Visibility,
  id: string,
  verdict: "accepted" | "rejected",
): Promise<Applied | undefined> {
  const review = await getReview(context.store.db, visibility, id);
  const { scope } = review;
  const candidate = verdict === "accepted" ? { draft: review.candidate } : undefined;
  const near = candidate ? await findDuplicates(context, scope, candidate) : [];
  return context.store.transaction(async (tx) => {
    await tx.lock(`memories ${scope}`);
    if (!(await closeReview(tx, id, verdict, context.store.clock.now()))) {
      throw new VarveError("CONFLICT", `${id} was decided on meanwhile.`, { remedy: "List what still waits." });
    }
    if (!candidate) return undefined;
    const decision = decideByRules(candidate, near);
    return applyDecision(tx, candidate, decision, { agent: review.agent, scope });
  });
}

async function getCurrent(context: MemoryContext, visibility: Visibility, id: string): Promise<Memory> {
  const memory = await getMemory(context.store.db, visibility, id);
  if (memory.invalidatedAt === undefined) return memory;
  throw changed(memory);
}

function changed({ id, supersededBy, forgottenAt }: Memory): VarveError {
  const what = forgottenAt === undefined ? `was replaced by ${supersededBy}` : "was forgotten";
  return new VarveError("CONFLICT", `The memory ${id} ${what}.`, {
    remedy: supersededBy === undefined ? "Store it anew if it holds again." : `Use ${supersededBy}.`,
  });
}

const textCharsMax = 20_000;

function checkText(text: string): string {
  const trimmed = text.trim();
  const isText = trimmed !== "" && trimmed.length <= textCharsMax && !trimmed.includes("\u0000");
  if (isText && trimmed.isWellFormed()) return trimmed;
  throw new VarveError("BAD_REQUEST", `A memory has 1 to ${textCharsMax} characters, without NUL or broken ones.`, {
    remedy: "Send one fact as text.",
  });
}

function share(value: number, name: string): number {
  if (value >= 0 && value <= 1) return value;
  throw new VarveError("BAD_REQUEST", `${name} ${value} is not a number from 0 to 1.`, {
    remedy: `Leave ${name} out for ${categories.entities.importance}.`,
  });
}

import { VarveError } from "../domain/index.ts";
import type { NewMemoryRows } from "../store/index.ts";
import { type Applied, applyDecision } from "./decisions.ts";
import { embed } from "./extract/candidates.ts";
import { comparable, decideByRules, duplicateFrom, shownMax } from "./extract/decide.ts";
import { parseFact } from "./extract/facts.ts";
import type { MemoryHost } from "./host.ts";
import { type Category, categories, type Memory, type MemoryDraft, type Source, type Trust } from "./memory.ts";
import { getMemory } from "./read.ts";
import { closeReview, getReview } from "./review.ts";
import { memoryFromRow } from "./rows.ts";
import { type Reader, writeScope } from "./scopes.ts";
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

/** Whoever writes by hand does not wait for a model: its vector follows, unless the program wants it at once. */
async function given(host: MemoryHost, draft: MemoryDraft): Promise<Candidate> {
  if (!host.shelf || host.shelf.vectors.follows) return { draft };
  const [candidate] = await embed(host, [draft]);
  return candidate ?? { draft };
}

/** What the rules may take for the same: it shares a key, or nearly all words. */
async function twins(host: MemoryHost, scope: string, candidate: Candidate): Promise<SimilarMemories[]> {
  const near = await findSimilar(host.store, scope, candidate, { limit: shownMax, twinsFrom: duplicateFrom });
  return comparable(near, candidate);
}

/** Whether it was written at once, because nothing there may be the same: most of what is kept. */
async function insertUnlessTwin(
  { store }: MemoryHost,
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
  host: MemoryHost,
  reader: Reader,
  wanted: NewMemory,
): Promise<Applied & { current: Memory }> {
  const scope = writeScope(reader, wanted.scope);
  const place = { agent: reader.agent, scope };
  const candidate = await given(host, draftOf(host, wanted));
  const { draft, vector } = candidate;
  const rows = toMemoryRows(draft, { ...place, vector }, host);
  if (await insertUnlessTwin(host, scope, draft, rows, wanted.force)) return created(draft, rows);
  const decision = decideByRules(candidate, await twins(host, scope, candidate));
  if (decision.match === undefined) {
    await host.store.insertMemory(rows);
    return created(draft, rows);
  }
  const applied = await host.store.transaction(async (tx) => {
    await tx.lock(`memories ${scope}`);
    return applyDecision(tx, candidate, decision, place, host);
  });
  const id = applied.memory ?? applied.match ?? "";
  return { ...applied, current: await getMemory(host.store.db, { ...reader, system: true }, id) };
}

function draftOf(host: MemoryHost, wanted: NewMemory): MemoryDraft {
  const text = checkText(wanted.text);
  const fact = parseFact(text) ?? parseFact(`Remember that ${text}`);
  const now = host.clock.now();
  const category = wanted.category ?? fact?.category ?? "entities";
  return {
    category,
    ...levelsOf(text),
    importance: share(wanted.importance ?? givenImportance, "importance"),
    confidence: givenConfidence,
    ...parseTemporal(text, wanted.validFrom ?? now, host.timeZone),
    validFrom: wanted.validFrom ?? now,
    ...(fact?.factKey === undefined || fact.category !== category ? {} : { factKey: fact.factKey }),
    trust: wanted.trust ?? "owner",
    extractor: "store",
    fiction: false,
    label: "general",
    sources: wanted.sources ?? [],
  };
}

function levelsOf(text: string): Pick<MemoryDraft, "abstract" | "overview" | "content"> {
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
export async function updateMemory(host: MemoryHost, reader: Reader, id: string, patch: MemoryPatch): Promise<Memory> {
  if (patch.text === undefined && patch.importance === undefined && patch.category === undefined) {
    throw new VarveError("BAD_REQUEST", "Nothing to change is named.", {
      remedy: "Send text, importance or category.",
    });
  }
  const before = await believed(host, reader, id);
  const now = host.clock.now();
  const { text } = patch;
  const draft: MemoryDraft = {
    ...before,
    ...(text === undefined ? {} : { ...levelsOf(checkText(text)), ...parseTemporal(text, now, host.timeZone) }),
    importance: share(patch.importance ?? before.importance, "importance"),
    category: patch.category ?? before.category,
    validFrom: Math.max(now, before.validFrom),
    extractor: "store",
    label: "general",
  };
  const candidate = await given(host, draft);
  const memory = await host.store.transaction(async (tx) => {
    await tx.lock(`memories ${before.scope}`);
    const current = await getMemory(tx.db, reader, id);
    if (current.invalidatedAt !== undefined) throw changed(current);
    const place = { agent: reader.agent, scope: before.scope, after: before, vector: candidate.vector };
    const written = await insertMemory(tx, draft, place, host);
    await closeVersion(tx, id, draft.validFrom, written);
    return written;
  });
  return getMemory(host.store.db, reader, memory);
}

/** Stops believing a memory; history still has it. */
export async function forgetMemory(host: MemoryHost, reader: Reader, id: string): Promise<Memory> {
  const { scope } = await believed(host, reader, id);
  const now = host.clock.now();
  await host.store.transaction(async (tx) => {
    await tx.lock(`memories ${scope}`);
    await tx.db
      .updateTable("memories")
      .set({ invalidated_at: now, forgotten_at: now })
      .where("id", "=", id)
      .where("scope", "=", scope)
      .where("invalidated_at", "is", null)
      .execute();
  });
  return getMemory(host.store.db, reader, id);
}

/** Takes what was held for review into the store, or turns it away. */
export async function decideReview(
  host: MemoryHost,
  reader: Reader,
  id: string,
  verdict: "accepted" | "rejected",
): Promise<Applied | undefined> {
  const review = await getReview(host.store.db, reader, id);
  const { scope } = review;
  const candidate = verdict === "accepted" ? await given(host, review.candidate) : undefined;
  const near = candidate ? await twins(host, scope, candidate) : [];
  return host.store.transaction(async (tx) => {
    await tx.lock(`memories ${scope}`);
    if (!(await closeReview(tx, id, verdict, host.clock.now()))) {
      throw new VarveError("CONFLICT", `${id} was decided on meanwhile.`, { remedy: "List what still waits." });
    }
    if (!candidate) return undefined;
    const decision = decideByRules(candidate, near);
    return applyDecision(tx, candidate, decision, { agent: review.agent, scope }, host);
  });
}

async function believed(host: MemoryHost, reader: Reader, id: string): Promise<Memory> {
  const memory = await getMemory(host.store.db, reader, id);
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

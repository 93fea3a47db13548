import { redactSecrets } from "../../domain/index.ts";
import { embedTexts } from "../../search/index.ts";
import type { MemoryDraft, Trust } from "../memory.ts";
import type { MemoryContext } from "../memory-context.ts";
import type { Candidate } from "../similar-memories.ts";
import { cosine, wordCosine } from "../similarity.ts";
import { candidatesMax, extractByModel } from "./by-model.ts";
import { type Found, grounded } from "./candidate.ts";
import { extractByRules } from "./rules.ts";
import type { Utterance } from "./utterances.ts";

export type ExtractionPolicy = "full" | "episodic" | "none";

/** What was found in a batch, and what of it was left out and why. */
export interface Gathered {
  candidates: Candidate[];
  dropped: Record<"ungrounded" | "duplicates" | "echoes" | "malformed" | "policy" | "secrets", number>;
  calls: number;
  tokens: number;
  notes: string[];
}

const duplicateAbove = 0.85;
const echoFrom = 0.6;
/** Without a model there is no limit to what a person may ask to be remembered, but for this one. */
const rulesMax = 20;
const episodic: readonly string[] = ["events", "cases"];

/** What a stretch of a conversation holds that may be written. Models are asked here, outside of any transaction. */
export async function gather(
  context: MemoryContext,
  spoken: readonly Utterance[],
  options: { policy: ExtractionPolicy; recalled: readonly string[]; userTrust?: Trust; signal?: AbortSignal },
): Promise<Gathered> {
  const { found, ...cost } = await findIn(context, spoken, options.signal);
  const dropped = { ungrounded: 0, duplicates: 0, echoes: 0, malformed: cost.malformed, policy: 0, secrets: 0 };
  const drafts: MemoryDraft[] = [];
  for (const one of found) {
    const draft = grounded(one, spoken, { timeZone: context.timeZone, userTrust: options.userTrust });
    if (!draft) dropped.ungrounded += 1;
    else if (holdsSecret(draft)) dropped.secrets += 1;
    else if (options.policy === "episodic" && !episodic.includes(draft.category)) dropped.policy += 1;
    else if (isEcho(draft, options.recalled)) dropped.echoes += 1;
    else drafts.push(draft);
  }
  const { embedded, note } = await embedDrafts(context, drafts, options.signal);
  if (note !== undefined) cost.notes.push(note);
  const candidates = withoutDuplicates(embedded);
  dropped.duplicates = embedded.length - candidates.length;
  return { candidates, dropped, calls: cost.calls, tokens: cost.tokens, notes: cost.notes };
}

interface FoundIn {
  found: Found[];
  malformed: number;
  calls: number;
  tokens: number;
  notes: string[];
}

async function findIn(context: MemoryContext, spoken: readonly Utterance[], signal?: AbortSignal): Promise<FoundIn> {
  const notes: string[] = [];
  let [calls, tokens, malformed] = [0, 0, 0];
  if (context.generate) {
    const told = await extractByModel(context.generate, spoken, signal);
    [calls, tokens, malformed] = [1, told.tokens, told.malformed];
    if (told.cut > 0) notes.push(`${told.cut} long messages were read only in their beginning`);
    if (told.fault === undefined) return { found: told.found, malformed, calls, tokens, notes };
    notes.push(`the model's answer could not be used (${told.fault}); the built-in rules read these messages`);
  }
  const { found, leftOut } = extractByRules(spoken, context.generate ? candidatesMax : rulesMax);
  if (leftOut > 0) notes.push(`${leftOut} further statements were left out`);
  return { found, malformed, calls, tokens, notes };
}

/** A key that was pasted is not a fact about anybody, and must not come back into prompts. */
function holdsSecret({ abstract, overview, content }: MemoryDraft): boolean {
  return [abstract, overview, content].some((text) => redactSecrets(text) !== text);
}

/** What an assistant says of what it was just reminded of is no news. */
function isEcho(draft: MemoryDraft, recalled: readonly string[]): boolean {
  return draft.trust === "agent" && recalled.some((text) => wordCosine(draft.abstract, text) >= echoFrom);
}

/** Embeds drafts for comparison. When the model fails they are compared by words alone; their vectors follow later. */
export async function embedDrafts(
  { embeddings }: Pick<MemoryContext, "embeddings">,
  drafts: readonly MemoryDraft[],
  signal?: AbortSignal,
): Promise<{ embedded: Candidate[]; note?: string }> {
  const plain = drafts.map((draft) => ({ draft }));
  if (!embeddings.embedder || drafts.length === 0) return { embedded: plain };
  try {
    const texts = drafts.map((draft) => draft.abstract);
    const { space, vectors } = await embedTexts(embeddings, texts, signal);
    const embedded = drafts.map((draft, index) => {
      const vector = vectors[index];
      return vector ? { draft, vector: { space, vector } } : { draft };
    });
    return { embedded };
  } catch (error) {
    if (signal?.aborted) throw error;
    const because = error instanceof Error ? error.message : String(error);
    return { embedded: plain, note: `no vectors yet (${because}): compared by words alone` };
  }
}

/** Of two that say the same, the later is dropped; two values of one fact do not say the same. */
function withoutDuplicates(candidates: readonly Candidate[]): Candidate[] {
  const kept: Candidate[] = [];
  for (const one of candidates) {
    if (!kept.some((other) => areDuplicates(one, other))) kept.push(one);
  }
  return kept;
}

function areDuplicates(a: Candidate, b: Candidate): boolean {
  const figures = (text: string) => (text.match(/\d+/g) ?? []).join(" ");
  if (figures(a.draft.abstract) !== figures(b.draft.abstract)) return false;
  const words = wordCosine(a.draft.abstract, b.draft.abstract);
  const alike = a.vector && b.vector ? cosine(a.vector.vector, b.vector.vector) : words;
  // Meaning alone takes a sister for a brother; where both agree, it is the same.
  return Math.min(words, alike) > duplicateAbove;
}

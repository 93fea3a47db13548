import { redactSecrets } from "../../domain/index.ts";
import { embedTexts } from "../../search/index.ts";
import { compareFacts } from "../compare/compare-facts.ts";
import type { MemoryDraft, Trust } from "../memory.ts";
import type { MemoryContext } from "../memory-context.ts";
import type { Candidate } from "../similar-memories.ts";
import { computeWordCosine } from "../similarity.ts";
import { extractByModel } from "./by-model.ts";
import { groundStatement, type Statement } from "./ground-statement.ts";
import { extractByRules } from "./rules.ts";
import type { Utterance } from "./utterances.ts";

export type ExtractionPolicy = "full" | "episodic" | "none";

/** The candidates of a batch, and how many were dropped by reason. */
export interface GatheredCandidates {
  candidates: Candidate[];
  dropped: Record<"ungrounded" | "duplicates" | "echoes" | "malformed" | "policy" | "secrets", number>;
  calls: number;
  tokens: number;
  notes: string[];
}

export interface GatherOptions {
  policy: ExtractionPolicy;
  /** Texts that were recalled into the conversation. */
  recalled: readonly string[];
  /** Whether people only talk here, without tools. */
  isChat: boolean;
  userTrust?: Trust;
  signal?: AbortSignal;
}

const echoFrom = 0.6;
/** The maximum number of statements that the rules take from a batch. */
const rulesMax = 200;
const episodic: readonly string[] = ["events", "cases"];

/** Extracts and filters the candidates of a batch. Models are called here, outside of any transaction. */
export async function gatherCandidates(
  context: MemoryContext,
  utterances: readonly Utterance[],
  options: GatherOptions,
): Promise<GatheredCandidates> {
  const { found, ...cost } = await extractStatements(context, utterances, options);
  const dropped = { ungrounded: 0, duplicates: 0, echoes: 0, malformed: cost.malformed, policy: 0, secrets: 0 };
  const drafts: MemoryDraft[] = [];
  for (const one of found) {
    const draft = groundStatement(one, utterances, { timeZone: context.timeZone, userTrust: options.userTrust });
    if (!draft) dropped.ungrounded += 1;
    else if (containsSecret(draft)) dropped.secrets += 1;
    else if (options.policy === "episodic" && !episodic.includes(draft.category)) dropped.policy += 1;
    else if (isEcho(draft, options.recalled)) dropped.echoes += 1;
    else drafts.push(draft);
  }
  const { embedded, note } = await embedDrafts(context, drafts, options.signal);
  if (note !== undefined) cost.notes.push(note);
  const candidates = removeDuplicates(embedded);
  dropped.duplicates = embedded.length - candidates.length;
  return { candidates, dropped, calls: cost.calls, tokens: cost.tokens, notes: cost.notes };
}

interface ExtractedStatements {
  found: Statement[];
  malformed: number;
  calls: number;
  tokens: number;
  notes: string[];
}

async function extractStatements(
  context: MemoryContext,
  utterances: readonly Utterance[],
  { isChat, signal }: GatherOptions,
): Promise<ExtractedStatements> {
  const notes: string[] = [];
  let [calls, tokens, malformed] = [0, 0, 0];
  if (context.generate) {
    const answer = await extractByModel(context.generate, utterances, signal);
    [calls, tokens, malformed] = [1, answer.tokens, answer.malformed];
    if (answer.cut > 0) notes.push(`${answer.cut} long messages were truncated for the model`);
    if (answer.fault === undefined) return { found: answer.found, malformed, calls, tokens, notes };
    notes.push(`the model's answer was invalid (${answer.fault}); built-in rules were used instead`);
  }
  const { found, leftOut } = extractByRules(utterances, { max: rulesMax, isChat });
  if (leftOut > 0) notes.push(`${leftOut} more statements exceeded the limit of a batch`);
  return { found, malformed, calls, tokens, notes };
}

/** A pasted key is not a memory and must not be recalled into prompts. */
function containsSecret({ abstract, overview, content }: MemoryDraft): boolean {
  return [abstract, overview, content].some((text) => redactSecrets(text) !== text);
}

/** Whether an assistant only repeats a recalled memory. */
function isEcho(draft: MemoryDraft, recalled: readonly string[]): boolean {
  return draft.trust === "agent" && recalled.some((text) => computeWordCosine(draft.abstract, text) >= echoFrom);
}

/** Embeds drafts for comparison. If the model fails, only words are compared; the drafts are embedded later. */
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
    return { embedded: plain, note: `the embedding model failed (${because}): only words were compared` };
  }
}

/** Drops the later of two duplicates. Two values of one fact are no duplicates. */
function removeDuplicates(candidates: readonly Candidate[]): Candidate[] {
  const unique: Candidate[] = [];
  for (const one of candidates) {
    if (!unique.some((other) => areDuplicates(one, other))) unique.push(one);
  }
  return unique;
}

/** The whole texts must agree: vectors cannot tell "sister" from "brother". */
function areDuplicates({ draft: a }: Candidate, { draft: b }: Candidate): boolean {
  if (compareFacts(a.abstract, b.abstract).relation !== "same") return false;
  return a.content === a.abstract || b.content === b.abstract || compareFacts(a.content, b.content).relation === "same";
}

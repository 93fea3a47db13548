import { setTimeout as sleep } from "node:timers/promises";
import type { Requester } from "../../authorization/index.ts";
import { resolveVisibility } from "../../authorization/index.ts";
import type { Config } from "../../config/index.ts";
import type { ResultKind, SearchAnswer, SearchResult, SearchService } from "../../search/index.ts";
import type { MemoryContext } from "../memory-context.ts";
import { noteId } from "./block.ts";
import { findMemories, type Hit } from "./find.ts";
import { recallQuery, wantsRecall } from "./when.ts";

export interface PromptRecallRequest extends Requester {
  prompt: string;
  memoriesMax: number;
  passagesMax: number;
  /** The kinds of passages to search for. */
  kinds: ResultKind[];
  /** Ids and citations that were shown already: they count as found, and are not returned again. */
  shown?: ReadonlySet<string>;
  /** Leaves out a passage, for example one that the model still sees. */
  skip?(passage: SearchResult): boolean;
  /** How long to wait for a search by meaning before words alone are searched; without a limit when absent. */
  meaningMs?: number;
  /** Search by words alone: no model is loaded. */
  wordsOnly?: boolean;
  /** Recall for any prompt, also for a greeting: a person asked for it. */
  always?: boolean;
}

export interface PromptRecall {
  memories: Hit[];
  passages: SearchResult[];
  /** What is relevant and was shown already. */
  repeated: { memories: Hit[]; passages: SearchResult[] };
}

/** The least relevance of a memory to be shown unasked: unrelated prompts do not reach it. */
const relevanceMin = 0.3;
/** The least certainty of a search to show its passages: it separated prompts with an answer from those without one. */
const certaintyMin = 0.4;
/** How many passages are shown when the search is not certain. */
const uncertainMax = 2;
/** A passage that scores less than this share of the best one is left out. */
const scoreShareMin = 0.6;
const candidatesMax = 24;
const repeatedMax = 50;

/**
 * What memory and history contain about a prompt, if it is relevant enough to be shown unasked. Turns, the offline runner
 * and the plugins all use this one implementation with the same thresholds.
 */
export async function recallForPrompt(
  { context, search, config }: { context: MemoryContext; search: SearchService; config: Config },
  request: PromptRecallRequest,
): Promise<PromptRecall> {
  const nothing = { memories: [], passages: [], repeated: { memories: [], passages: [] } };
  if (!request.always && !wantsRecall(request.prompt)) return nothing;
  const query = recallQuery(request.prompt);
  const shown = request.shown ?? new Set<string>();
  const [memories, passages] = await Promise.all([
    config.memory.recall ? findRelevantMemories(context, config, query, request, shown) : [],
    request.passagesMax > 0 ? findRelevantPassages(context, search, config, query, request) : [],
  ]);
  const isRepeated = {
    memory: (hit: Hit) => shown.has(hit.memory.id),
    passage: (one: SearchResult) => shown.has(one.citation) || shown.has(noteId(one)),
  };
  return {
    memories: memories.filter((hit) => !isRepeated.memory(hit)).slice(0, request.memoriesMax),
    passages: passages.filter((one) => !isRepeated.passage(one)).slice(0, request.passagesMax),
    repeated: { memories: memories.filter(isRepeated.memory), passages: passages.filter(isRepeated.passage) },
  };
}

async function findRelevantMemories(
  context: MemoryContext,
  config: Config,
  query: string,
  request: PromptRecallRequest,
  shown: ReadonlySet<string>,
): Promise<Hit[]> {
  const limit = request.memoriesMax + Math.min(shown.size, repeatedMax);
  const visibility = resolveVisibility(config, request);
  const { hits } = await findMemories(context, visibility, { query, limit });
  return hits.filter((hit) => hit.relevance >= relevanceMin && !hit.outdated);
}

async function findRelevantPassages(
  { store }: MemoryContext,
  search: SearchService,
  config: Config,
  query: string,
  request: PromptRecallRequest,
): Promise<SearchResult[]> {
  // Most agents have no corpus: then a search for chunks alone is skipped.
  if (request.kinds.every((kind) => kind === "chunk")) {
    const { agent } = resolveVisibility(config, request);
    const chunks = store.db.selectFrom("corpus_chunks").select("path").where("agent", "=", agent);
    if (!(await chunks.limit(1).executeTakeFirst())) return [];
  }
  const answer = await searchWithin(search, query, request);
  if (answer.certainty < certaintyMin) return [];
  const best = answer.results[0]?.score ?? 0;
  const relevant = answer.results.filter(
    (one) =>
      one.score >= best * scoreShareMin &&
      // The same question, asked before, answers nothing.
      normalise(one.text) !== normalise(query) &&
      !request.skip?.(one),
  );
  return answer.confidence === "strong" ? relevant : relevant.slice(0, uncertainMax);
}

/** By words and meaning; by words alone when meaning takes longer than allowed, for example while a model is loaded. */
async function searchWithin(
  search: SearchService,
  query: string,
  { principal, agent, kinds, wordsOnly, meaningMs }: PromptRecallRequest,
): Promise<SearchAnswer> {
  const find = (retrievers?: ["lexical"]) =>
    search.find(query, { principal, agent, kinds, limit: candidatesMax, noNetwork: true, retrievers });
  if (wordsOnly) return find(["lexical"]);
  const both = find().catch(() => find(["lexical"]));
  if (meaningMs === undefined) return both;
  return Promise.race([both, sleep(meaningMs, undefined, { ref: false }).then(() => find(["lexical"]))]);
}

function normalise(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, " ")
    .trim();
}

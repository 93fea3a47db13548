import { setTimeout as sleep } from "node:timers/promises";
import type { Requester } from "../../authorization/index.ts";
import { canReadNotes, resolveVisibility } from "../../authorization/index.ts";
import type { Config } from "../../config/index.ts";
import type { ResultKind, SearchAnswer, SearchResult, SearchService } from "../../search/index.ts";
import type { MemoryContext } from "../memory-context.ts";
import { formatNoteId } from "./block.ts";
import { findMemories, type MemoryHit } from "./find-memories.ts";
import { recallQuery, wantsRecall } from "./wants-recall.ts";

export interface PromptRecallRequest extends Requester {
  prompt: string;
  memoriesMax: number;
  passagesMax: number;
  /** The kinds of passages to search for. */
  kinds: ResultKind[];
  /** Ids and citations that were already shown: they are returned in `repeated` only. */
  shown?: ReadonlySet<string>;
  /** Leaves out a passage, for example one that the model still sees. */
  skip?(passage: SearchResult): boolean;
  /** How long to wait for the vector search before falling back to a lexical one, in milliseconds; default: no limit. */
  meaningMs?: number;
  /** Lexical search only: no embedding model is loaded. */
  wordsOnly?: boolean;
  /** Recall for any prompt, even a greeting, because a person requested it. */
  always?: boolean;
}

export interface PromptRecall {
  memories: MemoryHit[];
  passages: SearchResult[];
  /** Relevant results that were already shown. */
  repeated: { memories: MemoryHit[]; passages: SearchResult[] };
}

/** The minimum certainty of a search to recall passages; measured to separate prompts with and without an answer. */
const certaintyMin = 0.4;
/** The maximum number of passages when the confidence is not strong. */
const uncertainMax = 2;
/** Passages below this share of the best score are left out. */
const scoreShareMin = 0.6;
const candidatesMax = 24;
const repeatedMax = 50;

/**
 * Finds memories and passages relevant enough to be added to the context of a prompt. Turns, the offline runner and the
 * plugins share this implementation and its thresholds.
 */
export async function recallForPrompt(
  { context, search, config }: { context: MemoryContext; search: SearchService; config: Config },
  request: PromptRecallRequest,
): Promise<PromptRecall> {
  const nothing = { memories: [], passages: [], repeated: { memories: [], passages: [] } };
  if (!request.always && !wantsRecall(request.prompt)) return nothing;
  const query = recallQuery(request.prompt);
  if (query.trim() === "") return nothing;
  const shown = request.shown ?? new Set<string>();
  const [memories, passages] = await Promise.all([
    config.memory.recall ? findRelevantMemories(context, config, query, request, shown) : [],
    request.passagesMax > 0 ? findRelevantPassages(context, search, config, query, request) : [],
  ]);
  const isRepeated = {
    memory: (hit: MemoryHit) => shown.has(hit.memory.id),
    passage: (one: SearchResult) => shown.has(one.citation) || shown.has(formatNoteId(one)),
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
): Promise<MemoryHit[]> {
  const limit = request.memoriesMax + Math.min(shown.size, repeatedMax);
  const visibility = resolveVisibility(config, request);
  const { wordsOnly, meaningMs } = request;
  const noNetwork = wordsOnly || meaningMs !== undefined;
  const { hits } = await findMemories(context, visibility, { query, limit, wordsOnly, noNetwork });
  // A tentative memory is only for those who ask for it.
  return hits.filter((hit) => hit.relevance >= context.settings.recall.promptFloor && !hit.outdated && !hit.tentative);
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
    const visibility = resolveVisibility(config, request);
    if (!canReadNotes(visibility)) return [];
    const { agent } = visibility;
    const chunks = store.db.selectFrom("corpus_chunks").select("path").where("agent", "=", agent);
    if (!(await chunks.limit(1).executeTakeFirst())) return [];
  }
  const answer = await searchWithin(search, query, request);
  if (answer.certainty < certaintyMin) return [];
  // An earlier message with the same question is no answer, and no measure for the others.
  const others = answer.results.filter(({ text }) => normalise(text) !== normalise(query));
  const best = others[0]?.score ?? 0;
  const relevant = others.filter((one) => one.score >= best * scoreShareMin && !request.skip?.(one));
  return answer.confidence === "strong" ? relevant : relevant.slice(0, uncertainMax);
}

/** Hybrid search, with a lexical fallback when it fails or takes too long, for example while a model is loaded. */
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

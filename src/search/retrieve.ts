import type { EmbeddedQuery } from "../models/index.ts";
import type { ConversationSpan } from "../store/index.ts";
import { inSpans, listConversationSpans } from "./conversation-spans.ts";
import type { CachedDoc, Doc } from "./documents.ts";
import { collectPool, type Pool } from "./pool.ts";
import { type QueryVector, weighQuery } from "./query-vector.ts";
import { ranking } from "./ranking.ts";
import type { SearchContext } from "./search-context.ts";
import { type Statistics, termWeights } from "./statistics.ts";
import { chooseWords } from "./text/choose-words.ts";
import { type ParsedQuery, parseQuery } from "./text/parse-query.ts";
import { flatStems } from "./text/words.ts";
import { type FindOptions, type Retriever, resultKinds } from "./types.ts";
import type { VectorBlock } from "./vectors/block.ts";
import { dotBytes, normOfBytes, scaled } from "./vectors/math.ts";

/** What the retrievers brought together, before anything is scored. */
export interface Retrieval {
  parsed: ParsedQuery;
  statistics: Statistics;
  pool: Pool;
  /** The places in the pool of what may be a result; the others are only their surroundings. */
  candidates: number[];
  sources: ReadonlyMap<string, Retriever[]>;
  embedded: EmbeddedQuery | undefined;
  /** The vector of a document of the pool, of length one; nothing where there is none. */
  vectorAt(index: number): Float32Array | undefined;
  archived: ReadonlyMap<string, CachedDoc>;
  degraded: string[];
  cut: string[];
  /** How long the parts took, in milliseconds. */
  took: { name: string; ms: number }[];
}

const vectorWaitMs = 1_500;

export async function retrieve(room: SearchContext, text: string, options: FindOptions): Promise<Retrieval> {
  const { store } = room;
  const took: Retrieval["took"] = [];
  let began = performance.now();
  const mark = (name: string) => {
    const now = performance.now();
    took.push({ name, ms: now - began });
    began = now;
  };
  const parsed = parseQuery(text, { interactive: options.interactive });
  const kinds = options.kinds ?? [...resultKinds];
  const spans =
    options.conversation === undefined
      ? undefined
      : await listConversationSpans(store, options.agent, options.conversation);
  const retrievers = new Set<Retriever>(options.retrievers ?? ["lexical", "vector"]);
  const degraded: string[] = [];
  const cut: string[] = [];

  const statistics = await room.counts.statistics(options.agent, spans, parsed.terms, room.clock.now());
  const weights = termWeights(parsed.terms, statistics);
  mark("count words");
  const none: LexicalLeg = { seqs: [] };
  // The vectors first: they ask the store little, and compare while it ranks words.
  const [vector, lexical, archived] = await Promise.all([
    retrievers.has("vector") ? vectorLeg(room, parsed, weights, spans, options, kinds.includes("message")) : undefined,
    retrievers.has("lexical") && kinds.includes("message")
      ? lexicalLeg(room, parsed, weights, statistics, spans, options)
      : none,
    readArchive(room, options, kinds),
  ]);
  mark("retrievers");
  if (vector?.degraded) degraded.push(vector.degraded);
  cut.push(...archived.cut);
  if (lexical.cut !== undefined) cut.push(lexical.cut);

  const sources = new Map<string, Retriever[]>();
  const note = (key: string, leg: Retriever) => sources.set(key, [...(sources.get(key) ?? []), leg]);
  for (const seq of lexical.seqs) note(`msg#${seq}`, "lexical");
  for (const seq of vector?.seqs ?? []) note(`msg#${seq}`, "vector");
  const centres = [...new Set([...lexical.seqs, ...(vector?.seqs ?? [])])];
  const placed = await store.neighbours(options.agent, centres, breadth(options).context);
  mark("surroundings");
  const entries = await room.documents.read(options.agent, placed);
  mark("read");
  const shelf = chooseArchived(archived.docs, parsed, weights, vector?.query, spans, options);
  for (const { key, retrievers: found } of shelf) for (const leg of found) note(key, leg);
  const byKey = new Map(archived.docs.map((one) => [one.doc.key, one]));
  const pool = collectPool([...entries, ...shelf.flatMap(({ key }) => byKey.get(key)?.doc ?? [])]);
  return {
    parsed,
    statistics,
    pool,
    candidates: candidatesOf(pool, new Set(sources.keys()), spans, options, parsed),
    sources,
    embedded: vector?.embedded,
    vectorAt: vectorsOf(pool, vector?.blocks ?? [], byKey),
    archived: byKey,
    degraded,
    cut,
    took,
  };
}

function breadth(options: FindOptions): { each: number; context: number } {
  const { inConversation, everywhere } = ranking.candidates;
  return options.conversation === undefined ? everywhere : inConversation;
}

interface LexicalLeg {
  seqs: number[];
  cut?: string;
}

/** Entries by their words, the rarest first. */
async function lexicalLeg(
  room: SearchContext,
  parsed: ParsedQuery,
  weights: number[],
  statistics: Statistics,
  spans: ConversationSpan[] | undefined,
  options: FindOptions,
): Promise<LexicalLeg> {
  const terms = parsed.terms.map((term, index) => ({
    phrase: term.phrase,
    weight: weights[index] ?? 0,
    count: statistics.frequencies[index] ?? 0,
  }));
  const identifiers = parsed.identifiers.filter((name) => name.includes(" "));
  const limit = Math.max(breadth(options).each, 2 * (options.limit ?? 0));
  const { rankedMax, rowsMax } = ranking.candidates;
  for (const { words, any } of chooseWords(terms, statistics.messages, limit)) {
    const isRare = any && words.reduce((sum, word) => sum + word.count, 0) <= rowsMax;
    const found = await room.store.matchText({
      agent: options.agent,
      spans,
      words: [...words.map((word) => word.phrase), ...(any ? identifiers : [])],
      weights: [...words.map((word) => word.weight), ...identifiers.map(() => ranking.identifierWeight * 5)],
      any,
      required: parsed.required,
      excluded: parsed.excluded,
      prefix: parsed.prefix,
      since: options.since,
      before: options.before,
      // Rare words are ranked wherever they are; they were chosen to be few.
      ...(isRare ? {} : { rankedMax }),
      limit,
    });
    if (!any && found.length < limit / 2) continue;
    const seqs = found.map((hit) => hit.seq);
    if (!any || isRare) return { seqs };
    const common = words.map((word) => word.phrase).join(", ");
    return { seqs, cut: `only the newest ${rankedMax} messages with "${common}" were ranked by their words` };
  }
  return { seqs: [] };
}

interface VectorLeg {
  seqs: number[];
  embedded?: EmbeddedQuery;
  query?: QueryVector;
  blocks: VectorBlock[];
  degraded?: string;
}

async function vectorLeg(
  room: SearchContext,
  parsed: ParsedQuery,
  weights: number[],
  spans: ConversationSpan[] | undefined,
  options: FindOptions,
  messages: boolean,
): Promise<VectorLeg> {
  const nothing = { seqs: [], blocks: [] };
  const { embedder, vectorCache } = room;
  if (!embedder || !vectorCache)
    return { ...nothing, degraded: "no embedding model is installed: only words were searched" };
  if (parsed.text === "") return nothing;
  try {
    const { blocks, whole } = await vectorCache.blocksFor(options.agent, spans, vectorWaitMs);
    const size = blocks.reduce((sum, block) => sum + block.size, 0);
    if (size === 0 && messages && !(await vectorCache.hasDocuments(options.agent)))
      return { ...nothing, degraded: "nothing was embedded here yet: only words were searched" };
    const embedded = await embedder.embedQuery(parsed.text, options.signal);
    const query = weighQuery(embedded, parsed.terms, weights);
    const limit = Math.max(breadth(options).each, 2 * (options.limit ?? 0));
    const hits = (messages ? blocks : []).flatMap((block) =>
      block.nearest(query.vector, limit, (row) => inSpans(spans, row) && inTime(row.time, options)),
    );
    const seqs = hits.sort((a, b) => b.cosine - a.cosine).slice(0, limit);
    const degraded = whole ? undefined : `vectors are still being loaded: ${size} of them were searched`;
    return { seqs: seqs.map((hit) => hit.seq), embedded, query, blocks, degraded };
  } catch (error) {
    if (options.signal?.aborted) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    return { ...nothing, degraded: `the embedding model failed (${reason}): only words were searched` };
  }
}

async function readArchive(
  room: SearchContext,
  options: FindOptions,
  kinds: FindOptions["kinds"] & {},
): Promise<{ docs: CachedDoc[]; cut: string[] }> {
  return room.messageCache.read(options.agent, kinds, await room.vectorCache?.id());
}

/** The summaries, files and chunks worth a look: those with a word of the query or near it in meaning. */
function chooseArchived(
  docs: readonly CachedDoc[],
  parsed: ParsedQuery,
  weights: readonly number[],
  query: QueryVector | undefined,
  spans: readonly ConversationSpan[] | undefined,
  options: FindOptions,
): { key: string; retrievers: Retriever[] }[] {
  const inside = docs.filter(
    ({ doc }) =>
      inTime(doc.time, options) &&
      (spans === undefined || spans.some((span) => span.conversation === doc.conversation)),
  );
  const scored = inside.map((one) => {
    const words = parsed.terms.reduce(
      (sum, term, index) => sum + (one.doc.terms?.has(term.term) ? (weights[index] ?? 0) : 0),
      0,
    );
    return { one, words, cosine: query && one.vector ? cosine(query.vector, one.vector) : 0 };
  });
  const most = breadth(options).each;
  const lexical = scored.filter((item) => item.words > 0).sort((a, b) => b.words - a.words);
  const vector = scored.filter((item) => item.cosine > 0).sort((a, b) => b.cosine - a.cosine);
  const retrievers = new Map<string, Retriever[]>();
  for (const item of lexical.slice(0, most)) retrievers.set(item.one.doc.key, ["lexical"]);
  for (const item of vector.slice(0, most)) {
    retrievers.set(item.one.doc.key, [...(retrievers.get(item.one.doc.key) ?? []), "vector"]);
  }
  return [...retrievers].map(([key, found]) => ({ key, retrievers: found }));
}

/** Every vector of the pool is made once, when it is asked for. */
function vectorsOf(
  pool: Pool,
  blocks: readonly VectorBlock[],
  archived: ReadonlyMap<string, CachedDoc>,
): (index: number) => Float32Array | undefined {
  const made = new Map<number, Float32Array | undefined>();
  const make = (doc: Doc | undefined) => {
    if (doc?.seq === undefined) {
      const bytes = archived.get(doc?.key ?? "")?.vector;
      return bytes && scaled(bytes, 0, bytes.length, 1 / (normOfBytes(bytes, 0, bytes.length) || 1));
    }
    for (const block of blocks) {
      const vector = block.vectorOf(doc.seq);
      if (vector) return vector;
    }
    return undefined;
  };
  return (index) => {
    if (!made.has(index)) made.set(index, make(pool.docs[index]));
    return made.get(index);
  };
}

function cosine(query: Float32Array, bytes: Int8Array): number {
  return dotBytes(query, bytes, 0) / (normOfBytes(bytes, 0, bytes.length) || 1);
}

/** What was found, and its direct neighbours: an answer often stands beside the words that were asked for. */
function candidatesOf(
  pool: Pool,
  found: ReadonlySet<string>,
  spans: readonly ConversationSpan[] | undefined,
  options: FindOptions,
  parsed: ParsedQuery,
): number[] {
  const chosen: number[] = [];
  // A neighbour need not hold what the query demands.
  const strict = parsed.required.length > 0 || parsed.excluded.length > 0;
  for (const [index, doc] of pool.docs.entries()) {
    const near = [index, pool.before[index], pool.after[index]].some(
      (place, position) => (position === 0 || !strict) && found.has(pool.docs[place ?? -1]?.key ?? ""),
    );
    if (near && inTime(doc.time, options) && isInside(doc, spans) && holds(doc, parsed)) chosen.push(index);
  }
  return chosen;
}

function isInside(doc: Doc, spans: readonly ConversationSpan[] | undefined): boolean {
  return doc.seq === undefined || inSpans(spans, { conversation: doc.conversation ?? 0, seq: doc.seq });
}

/** Vectors know nothing of phrases and exclusions: what they bring is held against both here. */
function holds(doc: Doc, parsed: ParsedQuery): boolean {
  if (parsed.required.length === 0 && parsed.excluded.length === 0) return true;
  const flat = ` ${flatStems(doc.text)} `;
  return (
    parsed.required.every((phrase) => flat.includes(` ${flatStems(phrase)} `)) &&
    !parsed.excluded.some((phrase) => flat.includes(` ${flatStems(phrase)} `))
  );
}

function inTime(time: number, { since, before }: FindOptions): boolean {
  return time >= (since ?? Number.NEGATIVE_INFINITY) && time < (before ?? Number.POSITIVE_INFINITY);
}

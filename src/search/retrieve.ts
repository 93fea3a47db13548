import type { EmbeddedQuery, InstantEmbedder } from "../models/index.ts";
import type { ConversationSpan, Store } from "../store/index.ts";
import { listForkSpans } from "../transcript/index.ts";
import type { CachedDoc, Doc } from "./documents.ts";
import { type Statistics, weighTerms } from "./query-weights.ts";
import { ranking } from "./ranking.ts";
import { addInstantVectors, calibrateInstant, retrieveByVectors, type VectorQueries } from "./retrieve-vectors.ts";
import type { SearchContext } from "./search-context.ts";
import { chooseWords } from "./text/choose-words.ts";
import { type ParsedQuery, parseQuery, type QueryTerm } from "./text/parse-query.ts";
import { isSimilarName } from "./text/similar-names.ts";
import { joinStems, normaliseTerm, splitWords } from "./text/words.ts";
import { type FindOptions, type Retriever, resultKinds } from "./types.ts";
import { computeByteNorm, dot, dotBytes, scaleBytes } from "./vectors/math.ts";

/** The results of all retrievers, before scoring. */
export interface Retrieval {
  parsed: ParsedQuery;
  statistics: Statistics;
  pool: Pool;
  /** Pool indexes of the documents that may become results; the other documents only provide context. */
  candidates: number[];
  sources: ReadonlyMap<string, Retriever[]>;
  /** The query in the vectors of the model, and in instant vectors; undefined for a tier that was not searched. */
  embedded: EmbeddedQuery | undefined;
  instantEmbedded: EmbeddedQuery | undefined;
  /** The unit vector of a document of the pool; undefined when the model has not embedded it. */
  vectorAt(index: number): Float32Array | undefined;
  /** The instant vector of a document that has no other. */
  instantAt(index: number): Float32Array | undefined;
  cached: ReadonlyMap<string, CachedDoc>;
  degraded: string[];
  cut: string[];
  /** The duration of each step, in milliseconds. */
  took: { name: string; ms: number }[];
}

export async function retrieve(context: SearchContext, text: string, options: FindOptions): Promise<Retrieval> {
  const { store } = context;
  const took: Retrieval["took"] = [];
  let began = performance.now();
  const mark = (name: string) => {
    const now = performance.now();
    took.push({ name, ms: now - began });
    began = now;
  };
  const parsed = parseQuery(text, { interactive: options.interactive });
  const kinds = options.kinds ?? [...resultKinds];
  const spans = await resolveSpans(store, options);
  const retrievers = new Set<Retriever>(options.retrievers ?? ["lexical", "vector"]);
  const degraded: string[] = [];
  const cut: string[] = [];

  const statistics = await context.counts.readStatistics(options.agent, spans, parsed.terms, context.store.clock.now());
  const weights = weighTerms(parsed.terms, statistics);
  mark("count words");
  const none: LexicalHits = { seqs: [] };
  // Vector retrieval starts first: it compares vectors while the store ranks words.
  const [vector, lexical, cached] = await Promise.all([
    retrievers.has("vector")
      ? retrieveByVectors(context, parsed, weights, { ...options, spans, limit: chooseLimit(options) }, kinds)
      : undefined,
    retrievers.has("lexical") && kinds.includes("message")
      ? retrieveByWords(context, parsed, weights, statistics, spans, options)
      : none,
    readCachedDocs(context, options, kinds),
  ]);
  mark("retrievers");
  degraded.push(...(vector?.degraded ?? []));
  cut.push(...cached.cut);
  if (lexical.cut !== undefined) cut.push(lexical.cut);

  const sources = new Map<string, Retriever[]>();
  const note = (key: string, retriever: Retriever) => sources.set(key, [...(sources.get(key) ?? []), retriever]);
  for (const seq of lexical.seqs) note(`msg#${seq}`, "lexical");
  for (const seq of vector?.seqs ?? []) note(`msg#${seq}`, "vector");
  const centres = [...new Set([...lexical.seqs, ...(vector?.seqs ?? [])])];
  const placed = await store.neighbours(options.agent, centres, chooseBreadth(options).context);
  mark("surroundings");
  const [entries, vectors] = await Promise.all([
    context.documents.read(options.agent, placed),
    readVectors(
      context,
      { ...options, spans },
      placed.map((entry) => entry.seq),
      vector,
    ),
  ]);
  mark("read");
  const embedder = vector?.instantQuery && context.instant?.embedder;
  if (embedder) await addInstantVectors(cached.docs, embedder);
  const selected = selectCachedDocs(cached.docs, parsed, weights, vector, spans, options);
  for (const { key, retrievers: found } of selected) for (const retriever of found) note(key, retriever);
  const byKey = new Map(cached.docs.map((one) => [one.doc.key, one]));
  const pool = collectPool(
    [...entries, ...selected.flatMap(({ key }) => byKey.get(key)?.doc ?? [])],
    options.boundarySeq,
  );
  return {
    parsed: { ...parsed, terms: resolveNames(parsed.terms, statistics, pool) },
    statistics,
    pool,
    candidates: selectCandidates(pool, new Set(sources.keys()), spans, options, parsed),
    sources,
    embedded: vector?.embedded,
    instantEmbedded: vector?.instantEmbedded,
    ...createVectorLookup(pool, vectors, byKey, embedder),
    cached: byKey,
    degraded,
    cut,
    took,
  };
}

/** Replaces a word that no message contains by the name of a speaker that it may be another spelling of. */
function resolveNames(terms: readonly QueryTerm[], { frequencies }: Statistics, { docs }: Pool): QueryTerm[] {
  const names = new Set(docs.flatMap(({ speaker, role }) => (speaker === role ? [] : splitWords(speaker))));
  return terms.map((term, index) => {
    if (frequencies[index] !== 0 || names.has(term.phrase)) return term;
    const name = [...names].find((one) => isSimilarName(one, term.phrase));
    return name === undefined ? term : { ...term, term: normaliseTerm(name) ?? name };
  });
}

/** The parts of the log to search; undefined for all conversations of the agent. */
async function resolveSpans(store: Store, options: FindOptions): Promise<ConversationSpan[] | undefined> {
  const { agent, conversation, conversations } = options;
  const visible = conversations && new Set(conversations);
  if (conversation === undefined) return visible && [...visible].map((one) => ({ conversation: one }));
  const spans = await listForkSpans(store, { agent, conversation });
  return visible ? spans.filter((span) => visible.has(span.conversation)) : spans;
}

/** Whether an entry lies in one of the spans; always true without spans. */
function isInSpans(
  spans: readonly ConversationSpan[] | undefined,
  entry: { conversation: number; seq: number },
): boolean {
  if (spans === undefined) return true;
  return spans.some((span) => span.conversation === entry.conversation && entry.seq <= (span.upTo ?? entry.seq));
}

function chooseBreadth(options: FindOptions): { each: number; context: number } {
  const { inConversation, everywhere } = ranking.candidates;
  return options.conversation === undefined ? everywhere : inConversation;
}

function chooseLimit(options: FindOptions): number {
  return Math.max(chooseBreadth(options).each, 2 * (options.limit ?? 0));
}

interface LexicalHits {
  seqs: number[];
  cut?: string;
}

/** Retrieves entries by the query's words, the rarest words first. */
async function retrieveByWords(
  context: SearchContext,
  parsed: ParsedQuery,
  weights: number[],
  statistics: Statistics,
  spans: ConversationSpan[] | undefined,
  options: FindOptions,
): Promise<LexicalHits> {
  const terms = parsed.terms.map((term, index) => ({
    phrase: term.phrase,
    weight: weights[index] ?? 0,
    count: statistics.frequencies[index] ?? 0,
  }));
  const identifiers = parsed.identifiers.filter((name) => name.includes(" "));
  const limit = chooseLimit(options);
  const { rankedMax, rowsMax } = ranking.candidates;
  for (const { words, any } of chooseWords(terms, statistics.messages, limit)) {
    const isRare = any && words.reduce((sum, word) => sum + word.count, 0) <= rowsMax;
    const { hits: found, newestRanked } = await context.store.matchText({
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
      // Rare words match few entries, so all of them are ranked.
      ...(isRare ? {} : { rankedMax }),
      limit,
    });
    if (!any && found.length < limit / 2) continue;
    const seqs = found.map((hit) => hit.seq);
    if (newestRanked === undefined) return { seqs };
    const common = words.map((word) => word.phrase).join(", ");
    return {
      seqs,
      cut: `only the newest ${newestRanked} messages with "${common}" were ranked by words: the words are too common`,
    };
  }
  return { seqs: [] };
}

async function readCachedDocs(
  context: SearchContext,
  options: FindOptions,
  kinds: FindOptions["kinds"] & {},
): Promise<{ docs: CachedDoc[]; cut: string[] }> {
  return context.documentCache.read(options.agent, kinds, await context.vectorCache?.id());
}

/** Retrieves summaries, files and chunks that share a word with the query or are similar to it. */
function selectCachedDocs(
  docs: readonly CachedDoc[],
  parsed: ParsedQuery,
  weights: readonly number[],
  queries: VectorQueries | undefined,
  spans: readonly ConversationSpan[] | undefined,
  options: FindOptions,
): { key: string; retrievers: Retriever[] }[] {
  const inside = docs.filter(
    ({ doc }) =>
      isInTime(doc.time, options) &&
      (spans === undefined ||
        spans.some((span) => span.conversation === doc.conversation) ||
        // The agent's notes belong to no conversation: everybody who may use the agent finds them.
        (doc.kind === "chunk" && options.conversation === undefined)),
  );
  const scored = inside.map((one) => {
    const words = parsed.terms.reduce(
      (sum, term, index) => sum + (one.doc.terms?.has(term.term) ? (weights[index] ?? 0) : 0),
      0,
    );
    return { one, words, cosine: computeDocCosine(one, queries) };
  });
  const most = chooseBreadth(options).each;
  const lexical = scored.filter((item) => item.words > 0).sort((a, b) => b.words - a.words);
  const vector = scored.filter((item) => item.cosine > 0).sort((a, b) => b.cosine - a.cosine);
  const retrievers = new Map<string, Retriever[]>();
  for (const item of lexical.slice(0, most)) retrievers.set(item.one.doc.key, ["lexical"]);
  for (const item of vector.slice(0, most)) {
    retrievers.set(item.one.doc.key, [...(retrievers.get(item.one.doc.key) ?? []), "vector"]);
  }
  return [...retrievers].map(([key, found]) => ({ key, retrievers: found }));
}

/** By the model where it has embedded the document, otherwise by its instant vector, on the scale of the model. */
function computeDocCosine({ vector, instant }: CachedDoc, queries: VectorQueries | undefined): number {
  if (queries?.modelQuery && vector) return cosine(queries.modelQuery.vector, vector);
  if (queries?.instantQuery && instant) return calibrateInstant(dot(queries.instantQuery.vector, instant));
  return 0;
}

/** The vectors of messages, by their sequence numbers, in each tier that is searched. */
interface PoolVectors {
  model?: ReadonlyMap<number, Float32Array>;
  /** Of messages that the model has not embedded. */
  instant?: ReadonlyMap<number, Float32Array>;
}

async function readVectors(
  { vectorCache, instant }: SearchContext,
  { agent, spans, isEmbedded }: FindOptions & { spans: readonly ConversationSpan[] | undefined },
  seqs: readonly number[],
  queries: VectorQueries | undefined,
): Promise<PoolVectors> {
  const model = queries?.modelQuery && (await vectorCache?.read(agent, spans, seqs));
  if (!queries?.instantQuery || (model && isEmbedded)) return { model };
  const missing = seqs.filter((seq) => !model?.has(seq));
  return { model, instant: await instant?.vectors.read(agent, spans, missing) };
}

/** Decodes each vector of the pool once, on first use. */
function createVectorLookup(
  pool: Pool,
  vectors: PoolVectors,
  cached: ReadonlyMap<string, CachedDoc>,
  instant: InstantEmbedder | undefined,
): Pick<Retrieval, "vectorAt" | "instantAt"> {
  const vectorAt = remember((index) => {
    const doc = pool.docs[index];
    if (doc?.seq !== undefined) return vectors.model?.get(doc.seq);
    const bytes = vectors.model && cached.get(doc?.key ?? "")?.vector;
    return bytes && scaleBytes(bytes, 0, bytes.length, 1 / (computeByteNorm(bytes, 0, bytes.length) || 1));
  });
  const instantAt = remember((index) => {
    const doc = pool.docs[index];
    if (!instant || !doc || vectorAt(index)) return undefined;
    if (doc.seq === undefined) return cached.get(doc.key)?.instant;
    // A message that was just stored has no vector yet, and one without text gets none.
    return vectors.instant?.get(doc.seq) ?? instant.embedNow({ text: doc.text, speaker: doc.speaker }).vector;
  });
  return { vectorAt, instantAt };
}

function remember(compute: (index: number) => Float32Array | undefined): (index: number) => Float32Array | undefined {
  const known = new Map<number, Float32Array | undefined>();
  return (index) => {
    if (!known.has(index)) known.set(index, compute(index));
    return known.get(index);
  };
}

function cosine(query: Float32Array, bytes: Int8Array): number {
  return dotBytes(query, bytes, 0) / (computeByteNorm(bytes, 0, bytes.length) || 1);
}

/** The retrieved documents and their direct neighbours: the answer is often in the message next to the match. */
function selectCandidates(
  pool: Pool,
  found: ReadonlySet<string>,
  spans: readonly ConversationSpan[] | undefined,
  options: FindOptions,
  parsed: ParsedQuery,
): number[] {
  const chosen: number[] = [];
  // Neighbours are excluded when the query has required or excluded phrases.
  const strict = parsed.required.length > 0 || parsed.excluded.length > 0;
  for (const [index, doc] of pool.docs.entries()) {
    const near = [index, pool.before[index], pool.after[index]].some(
      (place, position) => (position === 0 || !strict) && found.has(pool.docs[place ?? -1]?.key ?? ""),
    );
    if (near && isInTime(doc.time, options) && isDocInSpans(doc, spans) && matchesPhrases(doc, parsed))
      chosen.push(index);
  }
  return chosen;
}

function isDocInSpans(doc: Doc, spans: readonly ConversationSpan[] | undefined): boolean {
  return doc.seq === undefined || isInSpans(spans, { conversation: doc.conversation ?? 0, seq: doc.seq });
}

/** Checks required and excluded phrases: vector retrieval ignores them. */
function matchesPhrases(doc: Doc, parsed: ParsedQuery): boolean {
  if (parsed.required.length === 0 && parsed.excluded.length === 0) return true;
  const flat = ` ${joinStems(doc.text)} `;
  return (
    parsed.required.every((phrase) => flat.includes(` ${joinStems(phrase)} `)) &&
    !parsed.excluded.some((phrase) => flat.includes(` ${joinStems(phrase)} `))
  );
}

function isInTime(time: number, { since, before }: FindOptions): boolean {
  return time >= (since ?? Number.NEGATIVE_INFINITY) && time < (before ?? Number.POSITIVE_INFINITY);
}

/** The candidates and their surrounding documents, linked by index. */
export interface Pool {
  docs: readonly Doc[];
  /** The index of the previous and of the next document; -1 when there is none. */
  before: readonly number[];
  after: readonly number[];
}

/** Links consecutive documents of one branch and session. `docs` must be ordered by sequence number. */
export function collectPool(docs: readonly Doc[], boundarySeq = 0): Pool {
  const before = docs.map(() => -1);
  const after = docs.map(() => -1);
  const last = new Map<string, number>();
  for (const [index, doc] of docs.entries()) {
    if (doc.kind !== "message") continue;
    const branch = `${doc.conversation}:${doc.branch}:${(doc.seq ?? 0) >= boundarySeq}`;
    const previous = last.get(branch);
    if (previous !== undefined) {
      before[index] = previous;
      after[previous] = index;
    }
    last.set(branch, index);
  }
  return { docs, before, after };
}

/** The documents within a distance, the document itself first. */
export function listNeighbours(pool: Pool, index: number, distance: number): { index: number; distance: number }[] {
  const found = [{ index, distance: 0 }];
  for (const links of [pool.before, pool.after]) {
    let at = index;
    for (let step = 1; step <= distance; step += 1) {
      at = links[at] ?? -1;
      if (at < 0) break;
      found.push({ index: at, distance: step });
    }
  }
  return found;
}

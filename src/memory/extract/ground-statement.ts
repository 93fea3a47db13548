import { annotateDates, type Span } from "../../text/index.ts";
import { findSlotKey } from "../compare/compare-facts.ts";
import { createTextKey } from "../compare/text-key.ts";
import type { Category, ContextLabel, Levels, MemoryDraft, Source, Trust } from "../memory.ts";
import { categories } from "../memory.ts";
import { computeCoverage, computeRougeL } from "../similarity.ts";
import { parseTemporal } from "../temporal.ts";
import { splitSentences, type Utterance } from "./utterances.ts";

/** A statement that an extractor found, before any check. */
export interface Statement extends Levels {
  category: Category;
  factKey?: string;
  importance?: number;
  fiction: boolean;
  label: ContextLabel;
  extractor: string;
  confidence: number;
  /** The messages that support it, with the span if it is known. */
  support: { seq: number; span?: Span }[];
}

/** The minimum share of a candidate's words that its supporting messages must contain. */
const groundedFrom = 0.34;
const spansPerMessage = 2;

/**
 * Converts a statement to a draft with its evidence; undefined when the messages it names do not contain it. This is
 * checked by their words: a model may name wrong messages.
 */
export function groundStatement(
  found: Statement,
  utterances: readonly Utterance[],
  { timeZone, userTrust = "owner" }: { timeZone: string; userTrust?: Trust },
): MemoryDraft | undefined {
  const named = utterances.filter((one) => found.support.some(({ seq }) => seq === one.seq));
  if (named.length === 0) return undefined;
  const texts = named.map((one) =>
    splitSentences(one)
      .map(({ start, end }) => one.text.slice(start, end))
      .join("\n"),
  );
  const support = Math.max(
    computeCoverage(found.abstract, texts.join("\n")),
    computeCoverage(found.content, texts.join("\n")),
  );
  if (support < groundedFrom) return undefined;
  const sources = named.flatMap((one) => findSources(found, one));
  if (sources.length === 0) return undefined;
  const newest = Math.max(...named.map((one) => one.time));
  const { support: _, importance, factKey, ...rest } = found;
  const isByRules = found.extractor === "rules";
  const known =
    (isByRules ? findSlotKey(found.abstract) : undefined) ??
    factKey ??
    (isByRules ? createTextKey(found.abstract) : undefined);
  const key = known === undefined ? undefined : qualifyFactKey(known, named);
  const dated = resolveLevels(rest, newest, timeZone);
  return {
    ...rest,
    ...dated,
    ...nameSpeaker({ ...found, ...dated }, named),
    ...(key === undefined ? {} : { factKey: key }),
    importance: importance ?? categories[found.category].importance,
    ...parseTemporal(found.content, newest, timeZone),
    validFrom: newest,
    trust: named.some((one) => one.role === "user") ? userTrust : "agent",
    sources,
  };
}

/** Relative dates mean nothing later; the evidence keeps the original words. */
function resolveLevels({ abstract, overview, content }: Levels, statedAt: number, timeZone: string): Levels {
  const resolve = (text: string) => annotateDates(text, statedAt, timeZone);
  return { abstract: resolve(abstract), overview: resolve(overview), content: resolve(content) };
}

/** Names whose fact it is where several people talk: "Elise: My mom is a hairdresser." */
function nameSpeaker({ abstract, extractor }: Statement, named: readonly Utterance[]): { abstract?: string } {
  const [one] = named;
  if (extractor !== "rules" || !one || one.role !== "user" || one.speaker === "user") return {};
  return { abstract: `${one.speaker}: ${abstract}` };
}

/** Adds the speaker to the fact key in group chats, where several people state facts about themselves. */
function qualifyFactKey(factKey: string, named: readonly Utterance[]): string {
  const speakers = new Set(named.filter((one) => one.role === "user").map((one) => one.speaker));
  const [only] = speakers;
  return speakers.size === 1 && only !== undefined && only !== "user" ? `${factKey} of ${only.toLowerCase()}` : factKey;
}

/** The sentences of a message that are most similar to a statement. */
function findSources(found: Statement, one: Utterance): Source[] {
  const source = ({ start, end }: Span): Source => {
    const { agent, sessionId, seq } = one;
    return { agent, sessionId, seq, start, end };
  };
  const known = found.support.flatMap(({ seq, span }) => (seq === one.seq && span ? [source(span)] : []));
  if (known.length > 0) return known;
  return splitSentences(one)
    .map((span) => ({ span, score: computeSimilarity(found, one.text.slice(span.start, span.end)) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
    .slice(0, spansPerMessage)
    .sort((a, b) => a.span.start - b.span.start)
    .map(({ span }) => source(span));
}

function computeSimilarity(found: Levels, sentence: string): number {
  return (
    Math.max(computeRougeL(found.abstract, sentence), computeRougeL(found.content, sentence)) +
    computeCoverage(sentence, found.content)
  );
}

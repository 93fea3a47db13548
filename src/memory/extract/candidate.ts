import type { Category, ContextLabel, Levels, MemoryDraft, Source, Trust } from "../memory.ts";
import { categories } from "../memory.ts";
import { coverage, rougeL } from "../similarity.ts";
import { parseTemporal } from "../temporal.ts";
import { type Span, splitSentences, type Utterance } from "./utterances.ts";

/** What an extractor found, before anything was checked. */
export interface Found extends Levels {
  category: Category;
  factKey?: string;
  importance?: number;
  fiction: boolean;
  label: ContextLabel;
  extractor: string;
  confidence: number;
  /** What it rests on: messages, and where in them when that is known. */
  support: { seq: number; span?: Span }[];
}

/** The share of a candidate's words that the messages it names must hold. */
const groundedFrom = 0.34;
const spansPerMessage = 2;

/**
 * A candidate as it may be written, with the words it rests on; undefined when the messages it names do not say it. That
 * is checked by the words, not by trust in whoever names them.
 */
export function grounded(
  found: Found,
  spoken: readonly Utterance[],
  { timeZone, userTrust = "owner" }: { timeZone: string; userTrust?: Trust },
): MemoryDraft | undefined {
  const named = spoken.filter((one) => found.support.some(({ seq }) => seq === one.seq));
  if (named.length === 0) return undefined;
  const said = named.map((one) =>
    splitSentences(one)
      .map(({ start, end }) => one.text.slice(start, end))
      .join("\n"),
  );
  const held = Math.max(coverage(found.abstract, said.join("\n")), coverage(found.content, said.join("\n")));
  if (held < groundedFrom) return undefined;
  const sources = named.flatMap((one) => sourcesIn(found, one));
  if (sources.length === 0) return undefined;
  const newest = Math.max(...named.map((one) => one.time));
  const { support: _, importance, factKey, ...rest } = found;
  const key = factKey === undefined ? undefined : keyOf(factKey, named);
  return {
    ...rest,
    ...(key === undefined ? {} : { factKey: key }),
    importance: importance ?? categories[found.category].importance,
    ...parseTemporal(found.content, newest, timeZone),
    validFrom: newest,
    trust: named.some((one) => one.role === "user") ? userTrust : "agent",
    sources,
  };
}

/** Where several people talk, what one says of themselves is not what another one says. */
function keyOf(factKey: string, named: readonly Utterance[]): string {
  const speakers = new Set(named.filter((one) => one.role === "user").map((one) => one.speaker));
  const [only] = speakers;
  return speakers.size === 1 && only !== undefined && only !== "user" ? `${factKey} of ${only.toLowerCase()}` : factKey;
}

/** The sentences of a message that come nearest to a candidate. */
function sourcesIn(found: Found, one: Utterance): Source[] {
  const source = ({ start, end }: Span): Source => {
    const { agent, sessionId, seq } = one;
    return { agent, sessionId, seq, start, end };
  };
  const known = found.support.flatMap(({ seq, span }) => (seq === one.seq && span ? [source(span)] : []));
  if (known.length > 0) return known;
  return splitSentences(one)
    .map((span) => ({ span, score: nearness(found, one.text.slice(span.start, span.end)) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
    .slice(0, spansPerMessage)
    .sort((a, b) => a.span.start - b.span.start)
    .map(({ span }) => source(span));
}

function nearness(found: Levels, sentence: string): number {
  return (
    Math.max(rougeL(found.abstract, sentence), rougeL(found.content, sentence)) + coverage(sentence, found.content)
  );
}

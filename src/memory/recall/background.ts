import { runAsEngine } from "../../authorization/index.ts";
import type { SearchContext } from "../../search/index.ts";
import { detectLanguage, detectLanguages } from "../../text/index.ts";
import { computeCosine } from "../similarity.ts";

/** How alike unrelated texts are: the middle of their cosines, and how far they spread around it. */
export interface Background {
  mean: number;
  spread: number;
}

type MemoryVectors = NonNullable<SearchContext["memoryVectors"]>;

/** A text from this many characters on is long. */
const longFrom = 60;
/** For a model without measured values; a multilingual model has one background for all languages. */
const unknown: Background = { mean: 0.06, spread: 0.08 };

/**
 * The background of the bundled model by language, for short and long texts: cosines between sentences about different
 * things, measured with the sentences of `varve bench memory`.
 */
const packaged: Readonly<Record<string, Readonly<Record<string, readonly [Background, Background]>>>> = {
  "minilm-l6-v2": {
    en: [pair(0.078, 0.091), pair(0.084, 0.088)],
    de: [pair(0.407, 0.101), pair(0.393, 0.089)],
    fr: [pair(0.407, 0.091), pair(0.419, 0.082)],
    es: [pair(0.402, 0.099), pair(0.42, 0.093)],
    it: [pair(0.403, 0.104), pair(0.416, 0.096)],
    pt: [pair(0.387, 0.094), pair(0.398, 0.083)],
    ru: [pair(0.578, 0.075), pair(0.556, 0.077)],
    zh: [pair(0.575, 0.107), pair(0.551, 0.084)],
    ja: [pair(0.537, 0.081), pair(0.508, 0.073)],
    ko: [pair(0.617, 0.123), pair(0.586, 0.122)],
  },
};

function pair(mean: number, spread: number): Background {
  return { mean, spread };
}

/** The store refines the background from this many texts on. */
const refineFrom = 200;
const sampleMax = 400;
/** A language with fewer texts in the sample keeps its packaged background. */
const languageLeast = 40;
const partnersEach = 12;
const refreshMs = 3_600_000;

interface Refined {
  at: number;
  byLanguage: Map<string, Background>;
}

const refinements = new WeakMap<MemoryVectors, Refined>();

/** Looks up the background of a model by the language and length of a text. */
export interface BackgroundTable {
  find(text: string): Background;
}

/** The background of a space: packaged values, refined by a sample of the store's own memories. */
export async function loadBackground(vectors: MemoryVectors, model: string, now: number): Promise<BackgroundTable> {
  let refined = refinements.get(vectors);
  if (!refined || now - refined.at > refreshMs) {
    refined = { at: now, byLanguage: await runAsEngine(() => measureSample(vectors)) };
    refinements.set(vectors, refined);
  }
  const { byLanguage } = refined;
  return {
    find(text) {
      // A short text may fit several languages; then the one with the highest background decides.
      const possible = detectLanguages(text).map(({ code }) => {
        const known = packaged[model]?.[code]?.[text.length < longFrom ? 0 : 1] ?? unknown;
        const own = byLanguage.get(code);
        return own ? { mean: (own.mean + known.mean) / 2, spread: Math.max(own.spread, known.spread) } : known;
      });
      return possible.reduce((highest, one) => (one.mean > highest.mean ? one : highest), possible[0] ?? unknown);
    },
  };
}

/** Cosines of memories that were not written one after the other, by language. */
async function measureSample(vectors: MemoryVectors): Promise<Map<string, Background>> {
  const sample = await vectors.sample(sampleMax);
  const measured = new Map<string, Background>();
  if (sample.length < refineFrom) return measured;
  const groups = Map.groupBy(sample, ({ text }) => detectLanguage(text).code);
  for (const [code, texts] of groups) {
    if (texts.length < languageLeast) continue;
    const cosines: number[] = [];
    const step = Math.max(1, Math.floor(texts.length / partnersEach));
    for (const [index, one] of texts.entries()) {
      for (let away = step; away < texts.length; away += step) {
        const other = texts[(index + away) % texts.length];
        if (other) cosines.push(computeCosine(one.vector, other.vector));
      }
    }
    measured.set(code, summarise(cosines));
  }
  return measured;
}

/** The median, and the distance of the quantiles that lie one standard deviation from it in a normal distribution. */
function summarise(cosines: readonly number[]): Background {
  const sorted = cosines.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.floor(share * (sorted.length - 1))] ?? 0;
  return { mean: at(0.5), spread: Math.max(0.02, (at(0.84) - at(0.16)) / 2) };
}

/** How many spreads above the mean a cosine must be to count as related. */
const relatedFrom = 3;
/** The relevance of a cosine at that floor. */
const relevanceAtFloor = 0.3;

/** Converts a cosine to a relevance that means the same in every language: 0.3 is where unrelated texts end. */
export function scaleCosine(cosine: number, { mean, spread }: Background): number {
  const floor = mean + relatedFrom * spread;
  if (cosine >= floor) return relevanceAtFloor + (1 - relevanceAtFloor) * Math.min(1, (cosine - floor) / (1 - floor));
  return Math.max(0, (relevanceAtFloor * (cosine - mean)) / (floor - mean));
}

/**
 * Makes `assets/instant-vectors.bin`: one vector for each token of the sentence model's vocabulary, so that the weighted
 * mean over the tokens of a text is near the vector that the model gives it. Every token passes through the model once;
 * then the vectors are fitted to the model's vectors of many texts (ridge regression by conjugate gradients).
 *
 *   node scripts/distil-instant-vectors.ts --texts FILE [--out FILE]
 *
 * FILE has one text a line. The table in the package was made from 54,000 texts: definitions of WordNet 3.0, paragraphs of
 * package documentation, and quotations of Debian's fortunes. No benchmark's text went into it. Takes about 20 minutes.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { parseArgs } from "node:util";
import { formatTokenTable } from "../src/models/embed/instant/token-table.ts";
import { WordPieces } from "../src/models/embed/instant/word-pieces.ts";
import { loadMiniLm } from "../src/models/embed/minilm-model.ts";
import { MiniLmSession } from "../src/models/embed/minilm-session.ts";

const hidden = 384;
const dimensions = 128;
/** Tokens that are more frequent than this weigh less than half. */
const frequentShare = 1e-3;
/** How strongly a token is drawn to its vector in the model: rare ones have few texts to be fitted to. */
const pull = 0.02;
const rounds = 2;
const steps = 20;

interface Sparse {
  tokens: number[];
  /** Square roots of frequencies, divided by the length of the sum. */
  values: number[];
}

const { values: options } = parseArgs({
  options: { texts: { type: "string" }, out: { type: "string", default: "assets/instant-vectors.bin" } },
});
if (options.texts === undefined) throw new Error("Name a file with one text a line: --texts FILE.");
const texts = readFileSync(options.texts, "utf8").split("\n").filter(Boolean);
const cacheFolder = `${tmpdir()}/varve-distil`;
const { tokenizer } = loadMiniLm(cacheFolder);
const session = await MiniLmSession.open(cacheFolder);
const words = Object.keys((tokenizer as { model: { vocab: Record<string, number> } }).model.vocab).filter((word) =>
  /^(?:##)?[\p{L}\p{N}_]+$/u.test(word),
);
const pieces = new WordPieces(new Map(words.map((word, place) => [word, place])));

console.log(`${texts.length} texts, ${words.length} tokens`);
const targets: Float32Array[] = [];
const counts: Map<number, number>[] = [];
for (const [index, text] of texts.entries()) {
  targets.push((await session.embed(text)).vector);
  counts.push(countTokens(text));
  if (index % 1_000 === 0) console.log(`embedded ${index}`);
}
const basis = findMainDirections(targets);
const goals = targets.map((vector) => unit(project(vector)));
const weights = weighTokens();
const rows = new Float32Array(words.length * dimensions);
for (const [place, word] of words.entries()) {
  // A continuation alone is not a word: the model sees its letters.
  const { vector } = await session.embed(word.replace("##", ""));
  rows.set(
    project(vector).map((value) => value * (weights[place] as number)),
    place * dimensions,
  );
}
for (let round = 0; round < rounds; round += 1) {
  fitRows(counts.map(toSparse));
  console.log(`round ${round + 1}: mean cosine ${meanCosine().toFixed(3)}`);
}
writeFileSync(options.out, formatTokenTable(words, dimensions, rows));

function countTokens(text: string): Map<number, number> {
  const found = new Map<number, number>();
  pieces.forEachWord(text, (_, tokens) => {
    for (const token of tokens) found.set(token, (found.get(token) ?? 0) + 1);
    return true;
  });
  return found;
}

/** The eigenvectors of the second moments with the largest eigenvalues, by subspace iteration. */
function findMainDirections(vectors: readonly Float32Array[]): Float32Array[] {
  const moments = new Float64Array(hidden * hidden);
  for (const vector of vectors) {
    for (let row = 0; row < hidden; row += 1) {
      for (let column = 0; column < hidden; column += 1) {
        moments[row * hidden + column] =
          (moments[row * hidden + column] as number) + (vector[row] as number) * (vector[column] as number);
      }
    }
  }
  let directions: Float32Array[] = Array.from({ length: dimensions }, (_, index) =>
    Float32Array.from({ length: hidden }, (__, at) => Math.sin((index + 1) * (at + 1) * 0.37) + (at === index ? 1 : 0)),
  );
  for (let step = 0; step < 60; step += 1) {
    directions = orthonormalise(
      directions.map((direction) =>
        Float32Array.from({ length: hidden }, (_, row) => {
          let sum = 0;
          for (let column = 0; column < hidden; column += 1) {
            sum += (moments[row * hidden + column] as number) * (direction[column] as number);
          }
          return sum;
        }),
      ),
    );
  }
  return directions;
}

function orthonormalise(vectors: Float32Array[]): Float32Array[] {
  const done: Float32Array[] = [];
  for (const vector of vectors) {
    const rest = vector.slice();
    for (const other of done) {
      const share = dot(rest, other);
      for (let at = 0; at < rest.length; at += 1) rest[at] = (rest[at] as number) - share * (other[at] as number);
    }
    done.push(unit(rest));
  }
  return done;
}

function project(vector: Float32Array): Float32Array {
  return Float32Array.from(basis, (direction) => dot(direction, vector));
}

/** Rare tokens weigh 1; the frequency of a token is that in the texts, or its place in the vocabulary at least. */
function weighTokens(): Float32Array {
  const seen = new Float64Array(words.length);
  for (const found of counts) for (const [token, count] of found) seen[token] = (seen[token] as number) + count;
  const smoothed = Float64Array.from(seen, (count, place) => count + (5 * words.length) / (place + 1) / 11);
  const total = smoothed.reduce((sum, count) => sum + count, 0);
  return Float32Array.from(smoothed, (count) => frequentShare / (frequentShare + count / total));
}

/** The frequencies of a text's tokens, scaled so that the sum of its present vectors has length one. */
function toSparse(found: ReadonlyMap<number, number>): Sparse {
  const tokens = [...found.keys()];
  const plain = tokens.map((token) => Math.sqrt(found.get(token) ?? 0));
  const norm = Math.sqrt(dotSelf(addUp(rows, { tokens, values: plain }))) || 1;
  return { tokens, values: plain.map((value) => value / norm) };
}

function addUp(table: Float32Array, { tokens, values }: Sparse): Float32Array {
  const sum = new Float32Array(dimensions);
  for (const [index, token] of tokens.entries()) {
    const value = values[index] as number;
    for (let at = 0; at < dimensions; at += 1) {
      sum[at] = (sum[at] as number) + value * (table[token * dimensions + at] as number);
    }
  }
  return sum;
}

/** Solves (AᵀA + pull) X = Aᵀ goals + pull · rows for all dimensions at once. */
function fitRows(matrix: readonly Sparse[]): void {
  const apply = (table: Float32Array): Float32Array => {
    const result = table.map((value) => value * pull);
    for (const sparse of matrix) scatter(result, sparse, addUp(table, sparse));
    return result;
  };
  const right = rows.map((value) => value * pull);
  for (const [index, sparse] of matrix.entries()) scatter(right, sparse, goals[index] as Float32Array);
  const applied = apply(rows);
  const residual = right.map((value, at) => value - (applied[at] as number));
  let direction: Float32Array = residual.slice();
  let error = dotSelf(residual);
  for (let step = 0; step < steps && error > 1e-9; step += 1) {
    const moved = apply(direction);
    const size = error / dot(direction, moved);
    for (let at = 0; at < rows.length; at += 1) {
      rows[at] = (rows[at] as number) + size * (direction[at] as number);
      residual[at] = (residual[at] as number) - size * (moved[at] as number);
    }
    const next = dotSelf(residual);
    const share = next / error;
    direction = residual.map((value, at) => value + share * (direction[at] as number));
    error = next;
  }
}

function scatter(table: Float32Array, { tokens, values }: Sparse, vector: Float32Array): void {
  for (const [index, token] of tokens.entries()) {
    const value = values[index] as number;
    for (let at = 0; at < dimensions; at += 1) {
      table[token * dimensions + at] = (table[token * dimensions + at] as number) + value * (vector[at] as number);
    }
  }
}

function meanCosine(): number {
  const cosines = counts.map((found, index) => dot(unit(addUp(rows, toSparse(found))), goals[index] as Float32Array));
  return cosines.reduce((sum, cosine) => sum + cosine, 0) / cosines.length;
}

function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let at = 0; at < a.length; at += 1) sum += (a[at] as number) * (b[at] as number);
  return sum;
}

function dotSelf(vector: Float32Array): number {
  return dot(vector, vector);
}

function unit(vector: Float32Array): Float32Array {
  const norm = Math.sqrt(dotSelf(vector)) || 1;
  return vector.map((value) => value / norm);
}

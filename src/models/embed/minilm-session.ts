import { Tokenizer } from "@huggingface/tokenizers";
import { loadMiniLm } from "./minilm-model.ts";
import { loadOnnxRuntime, type OnnxRuntime, type OnnxSession } from "./onnx/runtime.ts";
import { splitPieces } from "./pieces.ts";
import type { Embedded, EmbeddedQuery, QueryWord } from "./port.ts";
import { isInformative, normalise, TokenStates } from "./token-states.ts";
import { miniLmSpace } from "./worker-protocol.ts";

const startToken = 101;
const endToken = 102;
/** The model has 512 positions; two are for the start and end tokens. */
const tokensMax = 510;
const textTokensMax = 2_000;
const { tokenDimensions } = miniLmSpace;

interface ModelRun {
  ids: number[];
  states: Float32Array;
  tokens: Float32Array;
}

/** Runs the model. Belongs in a worker thread, because a run blocks its thread for some milliseconds. */
export class MiniLmSession {
  private readonly ort: OnnxRuntime;
  private readonly session: OnnxSession;
  private readonly tokenizer: Tokenizer;

  private constructor(ort: OnnxRuntime, session: OnnxSession, tokenizer: Tokenizer) {
    this.ort = ort;
    this.session = session;
    this.tokenizer = tokenizer;
  }

  static async open(cacheFolder: string): Promise<MiniLmSession> {
    const ort = await loadOnnxRuntime();
    const files = loadMiniLm(cacheFolder);
    // One thread: the CPU belongs to the host program, and two threads would only be twice as fast.
    const session = await ort.InferenceSession.create(files.model, { intraOpNumThreads: 1, interOpNumThreads: 1 });
    // The file configures truncation and padding to 128 tokens; here texts are split at sentences and never padded.
    const tokenizer = new Tokenizer({ ...files.tokenizer, truncation: null, padding: null }, {});
    return new MiniLmSession(ort, session, tokenizer);
  }

  /**
   * The vector of a text is the mean over its pieces. The speaker's name contributes to the vector but not to the token
   * states.
   */
  async embed(text: string, speaker?: string): Promise<Embedded> {
    const before = speaker ? this.encode(`${speaker}: `).ids : [];
    const { pieces, cut } = splitPieces(text, (part) => this.encode(part).ids.length);
    const sum = new Float32Array(miniLmSpace.dimensions);
    const telling = new TokenStates(tokenDimensions);
    const rest = new TokenStates(tokenDimensions);
    for (const piece of pieces.length === 0 ? [""] : pieces) {
      const encoded = this.encode(piece);
      const run = await this.run([...before, ...encoded.ids]);
      addVector(sum, normalise(computeMean(run)));
      const count = run.ids.length - 2 - before.length;
      for (let index = 0; index < count; index += 1) {
        const keep = isInformative(encoded.tokens[index] ?? "") ? telling : rest;
        if (telling.size >= textTokensMax) break;
        keep.add(encoded.ids[index] ?? 0, run.tokens, (index + 1 + before.length) * tokenDimensions);
      }
    }
    const tokens = (telling.size > 0 ? telling : rest).encode();
    return { vector: normalise(sum), tokens, ...(cut ? { cut } : {}) };
  }

  async embedQuery(text: string): Promise<EmbeddedQuery> {
    const encoded = this.encode(text);
    const run = await this.run(encoded.ids);
    const words: QueryWord[] = [];
    for (let index = 0; index < run.ids.length - 2; index += 1) {
      const token = encoded.tokens[index] ?? "";
      const at = (index + 1) * miniLmSpace.dimensions;
      const state = run.states.slice(at, at + miniLmSpace.dimensions);
      const from = (index + 1) * tokenDimensions;
      const projected = normalise(run.tokens.slice(from, from + tokenDimensions));
      const last = words.at(-1);
      if (token.startsWith("##") && last) {
        last.text += token.slice(2);
        addVector(last.state, state);
        last.tokens.push(projected);
      } else words.push({ text: token, state, tokens: [projected] });
    }
    return { vector: normalise(computeMean(run)), words };
  }

  private encode(text: string): { ids: number[]; tokens: string[] } {
    return this.tokenizer.encode(text, { add_special_tokens: false });
  }

  private async run(text: number[]): Promise<ModelRun> {
    const ids = [startToken, ...text.slice(0, tokensMax), endToken];
    const numbers = (values: number[]) =>
      new this.ort.Tensor(
        "int64",
        BigInt64Array.from(values, (value) => BigInt(value)),
        [values.length],
      );
    const result = await this.session.run({ ids: numbers(ids), places: numbers(ids.map((_, index) => index)) });
    return { ids, states: result.states?.data as Float32Array, tokens: result.tokens?.data as Float32Array };
  }
}

function computeMean({ ids, states }: ModelRun): Float32Array {
  const sum = new Float32Array(miniLmSpace.dimensions);
  for (let token = 0; token < ids.length; token += 1) {
    for (let index = 0; index < sum.length; index += 1) {
      sum[index] = (sum[index] ?? 0) + (states[token * sum.length + index] ?? 0);
    }
  }
  return sum;
}

function addVector(sum: Float32Array, more: Float32Array): void {
  for (let index = 0; index < sum.length; index += 1) sum[index] = (sum[index] ?? 0) + (more[index] ?? 0);
}

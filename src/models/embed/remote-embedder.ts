import { type Clock, type Random, systemClock, systemRandom, VarveError } from "../../domain/index.ts";
import { estimateTokens } from "../../text/index.ts";
import { classifyFailure, type Failure } from "../failure.ts";
import { computeBackoff, rejectOnAbort, type Sleep, systemSleep, throwIfAborted } from "../wait.ts";
import { splitPieces } from "./pieces.ts";
import type { Embedded, EmbeddedQuery, Embedder, EmbedText, VectorSpace } from "./port.ts";
import type { EmbedCall, EmbedUse } from "./sdk-embedding.ts";
import { normalise } from "./token-states.ts";

/** One server that offers the model. */
export interface EmbeddingSource {
  /** `provider/model`, for messages. */
  name: string;
  call(call: EmbedCall): Promise<number[][]>;
}

export interface RemoteLimits {
  /** Texts per call. */
  batch: number;
  /** The input limit of the model, with a margin. */
  pieceTokens: number;
  attemptsMax: number;
  backoffMs: number;
  retryAfterMaxMs: number;
  timeoutMs: number;
  /** Shorter, because a search waits for it. */
  queryTimeoutMs: number;
  /** After a failure no calls are made for this long, so that not every search waits for a server that is down. */
  pauseMs: number;
}

const defaultRemoteLimits: Readonly<RemoteLimits> = {
  batch: 64,
  pieceTokens: 1_500,
  attemptsMax: 3,
  backoffMs: 500,
  retryAfterMaxMs: 30_000,
  timeoutMs: 60_000,
  queryTimeoutMs: 10_000,
  pauseMs: 30_000,
};

export interface RemoteEmbedderOptions {
  space: VectorSpace;
  /** Servers of the same model: their vectors are in one space. */
  sources: readonly EmbeddingSource[];
  /** Sent for models that support shorter vectors. */
  dimensions?: number;
  limits?: Partial<RemoteLimits>;
  clock?: Clock;
  random?: Random;
  sleep?: Sleep;
}

/**
 * A remote embedding model. It fails instead of falling back to another model, because that would be a different vector
 * space.
 */
export class RemoteEmbedder implements Embedder {
  readonly space: VectorSpace;
  private readonly options: RemoteEmbedderOptions;
  private readonly limits: RemoteLimits;
  private readonly clock: Clock;
  private readonly closing = new AbortController();
  private paused: { until: number; error: VarveError } | undefined;

  constructor(options: RemoteEmbedderOptions) {
    this.options = options;
    this.space = options.space;
    this.limits = { ...defaultRemoteLimits, ...options.limits };
    this.clock = options.clock ?? systemClock;
  }

  async embed(texts: EmbedText[], signal?: AbortSignal): Promise<Embedded[]> {
    const split = texts.map(({ text, speaker }) => this.split(speaker ? `${speaker}: ${text}` : text));
    const pieces = split.flatMap((one) => one.pieces);
    const vectors: Float32Array[] = [];
    for (let at = 0; at < pieces.length; at += this.limits.batch) {
      vectors.push(...(await this.callSources(pieces.slice(at, at + this.limits.batch), "document", signal)));
    }
    let at = 0;
    return split.map(({ pieces: own, cut }) => {
      const vector = averageVectors(vectors.slice(at, at + own.length), this.space.dimensions);
      at += own.length;
      return { vector, ...(cut ? { cut } : {}) };
    });
  }

  async embedQuery(text: string, signal?: AbortSignal): Promise<EmbeddedQuery> {
    const { pieces } = this.split(text);
    return { vector: averageVectors(await this.callSources(pieces, "query", signal), this.space.dimensions) };
  }

  async close(): Promise<void> {
    this.closing.abort();
  }

  private split(text: string): { pieces: string[]; cut: boolean } {
    if (estimateTokens(text) <= this.limits.pieceTokens)
      return { pieces: [text.trim() === "" ? "-" : text], cut: false };
    return splitPieces(text, estimateTokens, this.limits.pieceTokens);
  }

  /** Calls the sources in order, the next one after a lasting failure. */
  private async callSources(texts: string[], use: EmbedUse, signal?: AbortSignal): Promise<Float32Array[]> {
    if (texts.length === 0) return [];
    if (this.paused && this.clock.now() < this.paused.until) throw this.paused.error;
    const failures: { name: string; failure: Failure; error: unknown }[] = [];
    for (const source of this.options.sources) {
      const outcome = await this.trySource(source, texts, use, signal);
      if ("vectors" in outcome) {
        this.paused = undefined;
        return outcome.vectors;
      }
      failures.push({ name: source.name, ...outcome });
    }
    const error = combineFailures(failures);
    this.paused = { until: this.clock.now() + this.limits.pauseMs, error };
    throw error;
  }

  private async trySource(
    source: EmbeddingSource,
    texts: string[],
    use: EmbedUse,
    signal: AbortSignal | undefined,
  ): Promise<{ vectors: Float32Array[] } | { failure: Failure; error: unknown }> {
    const { limits } = this;
    const sleep = this.options.sleep ?? systemSleep;
    const random = this.options.random ?? systemRandom;
    const timeoutMs = use === "query" ? limits.queryTimeoutMs : limits.timeoutMs;
    const stop = signal ? AbortSignal.any([signal, this.closing.signal]) : this.closing.signal;
    for (let attempt = 1; ; attempt += 1) {
      throwIfAborted(stop);
      const bounded = AbortSignal.any([stop, AbortSignal.timeout(timeoutMs)]);
      try {
        const { dimensions } = this.options;
        const call = source.call({ texts, use, signal: bounded, ...(dimensions === undefined ? {} : { dimensions }) });
        return { vectors: this.checkVectors(await rejectOnAbort(call, bounded), texts.length) };
      } catch (error) {
        throwIfAborted(stop);
        const isTimeout = bounded.aborted;
        const failure: Failure = isTimeout
          ? { kind: "transient", message: `no answer within ${timeoutMs} ms` }
          : classifyFailure(error, this.clock.now());
        const isLast = attempt >= limits.attemptsMax || (isTimeout && use === "query");
        if (failure.kind !== "transient" || isLast) return { failure, error };
        const requestedMs = Math.min(failure.retryAfterMs ?? 0, limits.retryAfterMaxMs);
        await sleep(Math.max(requestedMs, computeBackoff(attempt, limits.backoffMs, random)), stop);
      }
    }
  }

  /** Results are stored permanently, so vectors of a wrong size or without direction are rejected. */
  private checkVectors(embeddings: number[][], count: number): Float32Array[] {
    if (embeddings.length !== count) {
      throw new VarveError("MODEL_FAILED", `${count} texts were sent but ${embeddings.length} vectors returned.`);
    }
    return embeddings.map((values) => {
      if (values.length !== this.space.dimensions) {
        throw new VarveError(
          "MODEL_FAILED",
          `The vectors have ${values.length} dimensions, not ${this.space.dimensions}.`,
          { remedy: `Set search.embedderDimensions to ${values.length}.` },
        );
      }
      const vector = Float32Array.from(values);
      if (!vector.every(Number.isFinite) || vector.every((value) => value === 0)) {
        throw new VarveError("MODEL_FAILED", "A returned vector is zero or not finite.");
      }
      return normalise(vector);
    });
  }
}

function averageVectors(vectors: readonly Float32Array[], dimensions: number): Float32Array {
  const sum = new Float32Array(dimensions);
  for (const vector of vectors) {
    for (let at = 0; at < dimensions; at += 1) sum[at] = (sum[at] as number) + (vector[at] as number);
  }
  return normalise(sum);
}

function combineFailures(failures: readonly { name: string; failure: Failure; error: unknown }[]): VarveError {
  const messages = failures.map(({ name, failure }) => `${name}: ${failure.message}`).join("; ");
  const [first] = failures;
  if (failures.length === 1 && first?.failure.kind === "setup" && first.error instanceof VarveError) return first.error;
  const refused = failures.find(({ failure }) => failure.kind === "auth");
  const remedy = first?.error instanceof VarveError ? first.error.remedy : undefined;
  return new VarveError(refused ? "MODEL_KEY_REFUSED" : "MODEL_FAILED", `Embedding failed. ${messages}`, {
    remedy: refused ? "Check the key of the provider." : remedy,
    cause: failures.at(-1)?.error,
  });
}

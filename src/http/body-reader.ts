import type { IncomingMessage } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { FairQueue, type JsonShapeCheck, VarveError } from "../domain/index.ts";

export interface BodyRequest {
  /** Whose turn is counted when bodies wait, such as a token or an address. */
  caller: string;
  bytesMax: number;
  /** The setting that raises `bytesMax`. */
  setting: string;
  /** Checks the structure of JSON while it arrives. */
  shape?: JsonShapeCheck;
  signal?: AbortSignal;
}

export interface BodyReader {
  /** Reads the body of a request. A body that is refused is not read further; the server drops the rest. */
  read(incoming: IncomingMessage, request: BodyRequest): Promise<Buffer<ArrayBuffer>>;
}

/** Smaller bodies are read at once. */
const smallBytes = 64 * 1024;
const limits = { running: 2, runningPerCaller: 1, waitingPerCaller: 1_000, what: "large request bodies" };
/** After a large body its place stays empty for this many times as long as reading it took. */
const restFactor = 5;

interface BodyReaderOptions {
  rest?(ms: number): Promise<unknown>;
  /** Called for a caller whose body was refused after a part of it was read. */
  onRefused?(caller: string): void;
}

/**
 * Reads large bodies in turns, one caller after another, two at the same time, with a pause after each: the thread that
 * answers everybody has time for others, however much arrives. A body that waits is not read, so that its sender waits
 * too.
 */
export function createBodyReader({ rest = restQuietly, onRefused }: BodyReaderOptions = {}): BodyReader {
  const queue = new FairQueue(limits);
  return {
    async read(incoming, request) {
      const announced = Number(incoming.headers["content-length"] ?? 0);
      if (announced > request.bytesMax) throw createTooLargeError(request);
      const body = new BodyPieces(incoming, request, () => onRefused?.(request.caller));
      if (await body.readUntil(smallBytes)) return body.concat();
      const { promise, resolve, reject } = Promise.withResolvers<Buffer<ArrayBuffer>>();
      const turn = queue.run(request.caller, request.signal, async () => {
        const began = performance.now();
        try {
          await body.readUntil(Number.POSITIVE_INFINITY);
          resolve(body.concat());
        } catch (error) {
          reject(error);
        }
        // The caller has its answer; only the next body waits.
        await rest((performance.now() - began) * restFactor);
      });
      turn.catch(reject);
      return promise;
    },
  };
}

/** The part of a body that has been read. */
class BodyPieces {
  readonly #iterator: AsyncIterator<Uint8Array>;
  readonly #request: BodyRequest;
  readonly #onRefused: () => void;
  readonly #pieces: Uint8Array[] = [];
  #bytes = 0;

  constructor(incoming: IncomingMessage, request: BodyRequest, onRefused: () => void) {
    // A refused body must not close the connection: its answer is sent over it.
    this.#iterator = incoming.iterator({ destroyOnReturn: false })[Symbol.asyncIterator]();
    this.#request = request;
    this.#onRefused = onRefused;
  }

  /** Reads until more than `bytes` have arrived; returns true at the end of the body. */
  async readUntil(bytes: number): Promise<boolean> {
    while (this.#bytes <= bytes) {
      const { done, value } = await this.#iterator.next();
      if (done) return true;
      try {
        this.#take(value);
      } catch (error) {
        this.#onRefused();
        await this.#iterator.return?.();
        throw error;
      }
    }
    return false;
  }

  concat(): Buffer<ArrayBuffer> {
    return Buffer.concat(this.#pieces);
  }

  #take(piece: Uint8Array): void {
    this.#bytes += piece.byteLength;
    if (this.#bytes > this.#request.bytesMax) throw createTooLargeError(this.#request);
    const fault = this.#request.shape?.push(piece);
    if (fault) {
      const isDeep = fault.kind === "too deep";
      throw new VarveError(isDeep ? "BAD_REQUEST" : "TOO_LARGE", `The request body is too complex: ${fault.reason}.`, {
        remedy: isDeep ? "Send values with less nesting." : "Split it into several requests.",
      });
    }
    this.#pieces.push(piece);
  }
}

function createTooLargeError({ bytesMax, setting }: BodyRequest): VarveError {
  return new VarveError("TOO_LARGE", `The request body is larger than ${bytesMax} bytes.`, {
    remedy: `Split it into several requests, or raise ${setting}.`,
    details: { limitBytes: bytesMax },
  });
}

/** Does not keep the process alive. */
function restQuietly(ms: number): Promise<unknown> {
  return sleep(ms, undefined, { ref: false });
}

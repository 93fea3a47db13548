/** What turns texts into vectors. Undefined where there is nothing that can; a failure is thrown. */
export interface MemoryVectors {
  /** Vectors of different models are never compared. */
  readonly model: string;
  embed(texts: readonly string[], signal?: AbortSignal): Promise<ArrayLike<number>[] | undefined>;
  /** For models that take a question otherwise than a text. */
  embedQuery?(text: string, signal?: AbortSignal): Promise<ArrayLike<number>>;
  /** Whether memories are written without waiting for their vectors, which follow behind. */
  readonly follows?: boolean;
}

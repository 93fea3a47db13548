/** The two ways to embed: at once by token vectors, and later by the sentence model. */
export type EmbeddingTier = "instant" | "model";

import type { EmbeddingTier, Profile, ResultKind } from "../../index.ts";

/** A search as it is sent to the gateway. */
export interface SearchQuestion {
  query: string;
  retrievers: ("lexical" | "vector")[];
  tier?: EmbeddingTier;
  session?: string;
  kinds?: ResultKind[];
  scopes?: string[];
  since?: number;
  before?: number;
  limit?: number;
  minScore?: number;
  profile?: Profile;
  explain?: boolean;
}

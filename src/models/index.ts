export { LocalEmbedder, type LocalEmbedderOptions } from "./embed/local-embedder.ts";
export {
  type Embedded,
  type EmbeddedQuery,
  type Embedder,
  type EmbedText,
  type QueryWord,
  spaceName,
  type VectorSpace,
} from "./embed/port.ts";
export { normalise, toBytes } from "./embed/token-states.ts";

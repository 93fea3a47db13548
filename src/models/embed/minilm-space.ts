import { tokenDimensions } from "./onnx/projection.ts";
import type { VectorSpace } from "./port.ts";

/** The vectors of all-MiniLM-L6-v2 as they are made here. */
export const miniLmSpace: VectorSpace = { provider: "local", model: "minilm-l6-v2", dimensions: 384, tokenDimensions };

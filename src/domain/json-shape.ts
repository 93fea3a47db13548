/** Bounds on the structure of JSON text, checked before it is parsed: a small text can become a very large value. */
interface JsonShapeLimits {
  /** Values, keys and brackets, counted by their separators. */
  nodesMax: number;
  depthMax: number;
}

const jsonShapeLimits: JsonShapeLimits = { nodesMax: 500_000, depthMax: 200 };

const [quote, backslash, comma] = [0x22, 0x5c, 0x2c];
const [openObject, closeObject, openList, closeList] = [0x7b, 0x7d, 0x5b, 0x5d];

interface ShapeFault {
  kind: "too many values" | "too deep";
  reason: string;
}

/** The reason why JSON text is too complex to be parsed; undefined when it is not. One pass, no allocation. */
export function findShapeFault(
  bytes: Uint8Array,
  { nodesMax, depthMax }: JsonShapeLimits = jsonShapeLimits,
): ShapeFault | undefined {
  let [nodes, depth] = [0, 0];
  let isText = false;
  for (let index = 0; index < bytes.length; index += 1) {
    const byte = bytes[index];
    if (isText) {
      if (byte === backslash) index += 1;
      else if (byte === quote) isText = false;
      continue;
    }
    if (byte === quote) isText = true;
    else if (byte === comma) nodes += 1;
    else if (byte === openObject || byte === openList) {
      nodes += 1;
      depth += 1;
      if (depth > depthMax) return { kind: "too deep", reason: `it is nested more than ${depthMax} levels deep` };
    } else if (byte === closeObject || byte === closeList) depth -= 1;
    if (nodes > nodesMax) return { kind: "too many values", reason: `it has more than ${nodesMax} values` };
  }
  return undefined;
}

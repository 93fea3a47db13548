/** Bounds on the structure of JSON text, checked before it is parsed: a small text can become a very large value. */
interface JsonShapeLimits {
  /** Values, keys and brackets, counted by their separators. */
  nodesMax: number;
  depthMax: number;
  /** Items of one list, or fields of one object; no limit when absent. */
  itemsMax?: number;
}

export const jsonShapeLimits: JsonShapeLimits = { nodesMax: 500_000, depthMax: 200 };

const [quote, backslash, comma] = [0x22, 0x5c, 0x2c];
const [openObject, closeObject, openList, closeList] = [0x7b, 0x7d, 0x5b, 0x5d];

interface ShapeFault {
  kind: "too many values" | "too deep";
  reason: string;
}

/**
 * Checks JSON text that arrives in pieces, so that a text that is too complex is refused before the rest of it is read.
 * No allocation, and each byte is looked at once.
 */
export class JsonShapeCheck {
  readonly #limits: JsonShapeLimits;
  #nodes = 0;
  #depth = 0;
  /** The commas of the open list or object at each depth. */
  readonly #items: Uint32Array;
  #isText = false;
  #isEscaped = false;

  constructor(limits: JsonShapeLimits = jsonShapeLimits) {
    this.#limits = limits;
    this.#items = new Uint32Array(limits.depthMax + 1);
  }

  /** Takes the next piece; returns the reason why the text is too complex to be parsed, or undefined. */
  push(bytes: Uint8Array): ShapeFault | undefined {
    const { nodesMax, depthMax, itemsMax = Number.POSITIVE_INFINITY } = this.#limits;
    const items = this.#items;
    let [nodes, depth, isText] = [this.#nodes, this.#depth, this.#isText];
    let index = this.#isEscaped ? 1 : 0;
    for (; index < bytes.length; index += 1) {
      const byte = bytes[index];
      if (isText) {
        if (byte === backslash) index += 1;
        else if (byte === quote) isText = false;
        continue;
      }
      if (byte === quote) isText = true;
      else if (byte === comma) {
        nodes += 1;
        const count = (items[depth] ?? 0) + 1;
        items[depth] = count;
        if (count >= itemsMax) return { kind: "too many values", reason: `a list has more than ${itemsMax} items` };
      } else if (byte === openObject || byte === openList) {
        nodes += 1;
        depth += 1;
        if (depth > depthMax) return { kind: "too deep", reason: `it is nested more than ${depthMax} levels deep` };
        items[depth] = 0;
      } else if (byte === closeObject || byte === closeList) depth -= 1;
      if (nodes > nodesMax) return { kind: "too many values", reason: `it has more than ${nodesMax} values` };
    }
    // A backslash at the end escapes the first byte of the next piece.
    this.#isEscaped = index > bytes.length;
    [this.#nodes, this.#depth, this.#isText] = [nodes, depth, isText];
    return undefined;
  }
}

/** The reason why JSON text is too complex to be parsed; undefined when it is not. */
export function findShapeFault(bytes: Uint8Array, limits?: JsonShapeLimits): ShapeFault | undefined {
  return new JsonShapeCheck(limits).push(bytes);
}

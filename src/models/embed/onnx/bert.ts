import { miniLmSpace } from "../worker-protocol.ts";
import { Graph } from "./graph.ts";
import { projectionBytes } from "./projection-data.ts";
import { type Tensor, toFloats } from "./safetensors.ts";

const hidden = 384;
const heads = 12;
const layers = 6;
const epsilon = 1e-12;
const { tokenDimensions } = miniLmSpace;
/**
 * Weights use seven bits instead of eight: processors without VNNI add two 8-bit products in 16 bits and would
 * saturate, which would give different vectors on different machines.
 */
const weightMax = 64;

/**
 * Builds MiniLM as a graph for one text at a time: token ids in, one state per token out. A single text needs no
 * padding or mask. Activations are quantised per run, so this also makes a vector independent of other texts in a
 * batch.
 */
export function buildBertGraph(tensor: (name: string) => Tensor): Uint8Array {
  const graph = new Graph();
  const ids = graph.input("ids", "int64", ["length"]);
  const places = graph.input("places", "int64", ["length"]);
  const vector = (name: string) => graph.floats([hidden], toFloats(tensor(name).halves));
  const words = tensor("embeddings.word_embeddings.weight");
  const wordTable = graph.constant("float16", words.shape, new Uint8Array(words.halves.buffer));
  const placeTable = graph.floats([512, hidden], combinePositionAndType(tensor));
  const embedded = graph.add("Cast", [graph.add("Gather", [wordTable, ids])], { to: 1 });
  const placed = graph.add("Add", [embedded, graph.add("Gather", [placeTable, places])]);
  let states = graph.add(
    "LayerNormalization",
    [placed, vector("embeddings.LayerNorm.weight"), vector("embeddings.LayerNorm.bias")],
    { axis: 1, epsilon: { float: epsilon } },
  );
  const shapes = {
    split: addInt64(graph, [0, heads, hidden / heads]),
    merge: addInt64(graph, [0, hidden]),
    scale: graph.floats([1], Float32Array.of(1 / Math.sqrt(hidden / heads))),
  };

  for (let layer = 0; layer < layers; layer += 1) {
    const at = (name: string) => `encoder.layer.${layer}.${name}`;
    const dense = (from: string, name: string) => addDenseLayer(graph, tensor, from, name);
    const asHeads = (from: string, name: string) =>
      graph.add("Reshape", [dense(from, at(`attention.self.${name}`)), shapes.split]);
    const query = graph.add("Transpose", [asHeads(states, "query")], { perm: [1, 0, 2] });
    const key = graph.add("Transpose", [asHeads(states, "key")], { perm: [1, 2, 0] });
    const value = graph.add("Transpose", [asHeads(states, "value")], { perm: [1, 0, 2] });
    const weights = graph.add("Softmax", [graph.add("Mul", [graph.add("MatMul", [query, key]), shapes.scale])], {
      axis: 2,
    });
    const mixed = graph.add("Transpose", [graph.add("MatMul", [weights, value])], { perm: [1, 0, 2] });
    const attended = dense(graph.add("Reshape", [mixed, shapes.merge]), at("attention.output.dense"));
    const norm = (from: string, name: string) =>
      graph.add("LayerNormalization", [from, vector(at(`${name}.weight`)), vector(at(`${name}.bias`))], {
        axis: 1,
        epsilon: { float: epsilon },
      });
    states = norm(graph.add("Add", [attended, states]), "attention.output.LayerNorm");
    const wide = graph.add("Gelu", [dense(states, at("intermediate.dense"))], {}, "com.microsoft");
    states = norm(graph.add("Add", [dense(wide, at("output.dense")), states]), "output.LayerNorm");
  }
  graph.output(states, "states", "float32", ["length", hidden]);
  const projection = graph.floats([hidden, tokenDimensions], decodeTokenProjection());
  graph.output(graph.add("MatMul", [states, projection]), "tokens", "float32", ["length", tokenDimensions]);
  return graph.encode();
}

/** All texts have token type 0, so its embedding is added to the position embeddings in advance. */
function combinePositionAndType(tensor: (name: string) => Tensor): Float32Array {
  const places = toFloats(tensor("embeddings.position_embeddings.weight").halves);
  const type = toFloats(tensor("embeddings.token_type_embeddings.weight").halves);
  for (let index = 0; index < places.length; index += 1) {
    places[index] = (places[index] ?? 0) + (type[index % hidden] ?? 0);
  }
  return places;
}

function addDenseLayer(graph: Graph, tensor: (name: string) => Tensor, from: string, name: string): string {
  const weights = tensor(`${name}.weight`);
  const [rows = 0, columns = 0] = weights.shape;
  const { quantised, scales } = quantise(transpose(toFloats(weights.halves), rows, columns), columns, rows);
  const bias = graph.floats([rows], toFloats(tensor(`${name}.bias`).halves));
  const b = graph.constant("int8", [columns, rows], new Uint8Array(quantised.buffer));
  const zero = graph.constant("int8", [rows], new Uint8Array(rows));
  return graph.add("DynamicQuantizeMatMul", [from, b, graph.floats([rows], scales), zero, bias], {}, "com.microsoft");
}

function transpose(values: Float32Array, rows: number, columns: number): Float32Array {
  const transposed = new Float32Array(values.length);
  for (let row = 0; row < rows; row += 1) {
    for (let column = 0; column < columns; column += 1) {
      transposed[column * rows + row] = values[row * columns + column] ?? 0;
    }
  }
  return transposed;
}

/** One scale per column, so that a large weight reduces precision only in its own column. */
function quantise(values: Float32Array, rows: number, columns: number): { quantised: Int8Array; scales: Float32Array } {
  const scales = new Float32Array(columns);
  for (let index = 0; index < rows * columns; index += 1) {
    const column = index % columns;
    scales[column] = Math.max(scales[column] ?? 0, Math.abs(values[index] ?? 0));
  }
  for (let column = 0; column < columns; column += 1) scales[column] = (scales[column] || 1) / weightMax;
  const quantised = new Int8Array(rows * columns);
  for (let index = 0; index < quantised.length; index += 1) {
    quantised[index] = Math.round((values[index] ?? 0) / (scales[index % columns] ?? 1));
  }
  return { quantised, scales };
}

function addInt64(graph: Graph, values: number[]): string {
  return graph.constant("int64", [values.length], new Uint8Array(BigInt64Array.from(values.map(BigInt)).buffer));
}

/** The projection as rows of floats. Its scale does not matter, because only directions are compared. */
function decodeTokenProjection(): Float32Array {
  const bytes = Buffer.from(projectionBytes, "base64");
  return Float32Array.from(new Int8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength), (value) => value / 127);
}

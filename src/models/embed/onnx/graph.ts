/** The ONNX element types in use, by their number in the format. */
export const elementTypes = { float32: 1, int8: 3, int64: 7, float16: 10 } as const;
export type ElementType = keyof typeof elementTypes;

export interface Attributes {
  [name: string]: number | number[] | { float: number };
}

/** Builds an ONNX graph: constants, operations in order, inputs and outputs. */
export class Graph {
  private readonly nodes: Field[] = [];
  private readonly constants: Field[] = [];
  private readonly inputs: Field[] = [];
  private readonly outputs: Field[] = [];
  private nextName = 0;

  constant(type: ElementType, shape: number[], data: Uint8Array): string {
    const name = this.fresh();
    const dims = shape.map((size) => integer(1, size));
    const tensor = message(...dims, integer(2, elementTypes[type]), text(8, name), bytes(9, data));
    this.constants.push(bytes(5, tensor));
    return name;
  }

  floats(shape: number[], values: Float32Array): string {
    return this.constant("float32", shape, new Uint8Array(values.buffer, values.byteOffset, values.byteLength));
  }

  /** Adds an operation and returns the name of its result. */
  add(op: string, inputs: string[], attributes: Attributes = {}, domain = ""): string {
    const name = this.fresh();
    const node = message(
      ...inputs.map((input) => text(1, input)),
      text(2, name),
      text(4, op),
      ...Object.entries(attributes).map(([key, value]) => bytes(5, attribute(key, value))),
      domain === "" ? undefined : text(7, domain),
    );
    this.nodes.push(bytes(1, node));
    return name;
  }

  input(name: string, type: ElementType, axes: string[]): string {
    this.inputs.push(bytes(11, valueInfo(name, type, axes)));
    return name;
  }

  output(from: string, name: string, type: ElementType, axes: (string | number)[]): void {
    this.nodes.push(bytes(1, message(text(1, from), text(2, name), text(4, "Identity"))));
    this.outputs.push(bytes(12, valueInfo(name, type, axes)));
  }

  /** Encodes the model file. */
  encode(): Uint8Array {
    const graph = message(...this.nodes, text(2, "varve"), ...this.constants, ...this.inputs, ...this.outputs);
    const opset = (domain: string, version: number) => bytes(8, message(text(1, domain), integer(2, version)));
    return message(integer(1, 8), text(2, "varve"), bytes(7, graph), opset("", 17), opset("com.microsoft", 1));
  }

  private fresh(): string {
    this.nextName += 1;
    return `v${this.nextName}`;
  }
}

function attribute(name: string, value: number | number[] | { float: number }): Uint8Array {
  if (typeof value === "number") return message(text(1, name), integer(3, value), integer(20, 2));
  if (Array.isArray(value)) return message(text(1, name), ...value.map((one) => integer(8, one)), integer(20, 7));
  return message(text(1, name), float(2, value.float), integer(20, 1));
}

function valueInfo(name: string, type: ElementType, axes: (string | number)[]): Uint8Array {
  const dimension = (axis: string | number) => (typeof axis === "string" ? text(2, axis) : integer(1, axis));
  const shape = message(...axes.map((axis) => bytes(1, message(dimension(axis)))));
  const tensor = message(integer(1, elementTypes[type]), bytes(2, shape));
  return message(text(1, name), bytes(2, message(bytes(1, tensor))));
}

/** The part of the protobuf wire format needed to write an ONNX model: integers, floats, bytes and nested messages. */
export type Field = { number: number; bytes: Uint8Array } | { number: number; integer: number } | FloatField;

interface FloatField {
  number: number;
  float: number;
}

const wireVarint = 0;
const wireBytes = 2;
const wireFloat = 5;

export function message(...fields: (Field | undefined)[]): Uint8Array {
  const chunks: Uint8Array[] = [];
  for (const field of fields) {
    if (field === undefined) continue;
    if ("bytes" in field) {
      chunks.push(varint((field.number << 3) | wireBytes), varint(field.bytes.length), field.bytes);
    } else if ("integer" in field) {
      chunks.push(varint((field.number << 3) | wireVarint), varint(field.integer));
    } else {
      chunks.push(varint((field.number << 3) | wireFloat), new Uint8Array(Float32Array.of(field.float).buffer));
    }
  }
  return concat(chunks);
}

export function bytes(number: number, value: Uint8Array): Field {
  return { number, bytes: value };
}

export function text(number: number, value: string): Field {
  return { number, bytes: new TextEncoder().encode(value) };
}

export function integer(number: number, value: number): Field {
  return { number, integer: value };
}

export function float(number: number, value: number): Field {
  return { number, float: value };
}

/** Integers from 0 to 2^53, seven bits per byte. */
function varint(value: number): Uint8Array {
  const out: number[] = [];
  let rest = value;
  while (rest >= 128) {
    out.push((rest % 128) + 128);
    rest = Math.floor(rest / 128);
  }
  out.push(rest);
  return Uint8Array.from(out);
}

function concat(chunks: Uint8Array[]): Uint8Array {
  const out = new Uint8Array(chunks.reduce((sum, chunk) => sum + chunk.length, 0));
  let at = 0;
  for (const chunk of chunks) {
    out.set(chunk, at);
    at += chunk.length;
  }
  return out;
}

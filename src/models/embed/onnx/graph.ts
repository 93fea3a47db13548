import { bytes, type Field, float, integer, message, text } from "./protobuf.ts";

/** The element types of ONNX that are used here, by their number in the format. */
export const elementTypes = { float32: 1, int8: 3, int64: 7, float16: 10 } as const;
export type ElementType = keyof typeof elementTypes;

export interface Attributes {
  [name: string]: number | number[] | { float: number };
}

/** An ONNX graph in the making: constants, operations in order, inputs and outputs. */
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

  /** One operation; returns the name of its result. */
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

  /** The whole model file. */
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

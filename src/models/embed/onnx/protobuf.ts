/** Just enough of the protobuf wire format to write an ONNX model: numbers, floats, bytes and nested messages. */
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

/** Whole numbers from 0 to 2^53, seven bits a byte. */
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

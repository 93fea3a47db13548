/** Compares rows of bits with a query, 16 bytes at a time, in WebAssembly: JavaScript takes four times as long. */
export interface BitKernel {
  /** The most rows of a width, in bytes, that one call compares. */
  rowsMax(width: number): number;
  /** Writes the number of bits in which each row differs from the query. The width is a multiple of 16. */
  compare(query: Uint8Array, rows: Uint8Array, distances: Uint16Array): void;
}

/** Where things are in the memory of the module: small enough to stay in the cache of a processor. */
const pageBytes = 65_536;
const pages = 6;
const queryAt = 0;
const rowsAt = 4_096;
const distancesAt = (pages - 1) * pageBytes;
/** The bytes that the module reads at once. */
const step = 16;

/** The used part of the global `WebAssembly`, whose types belong to those of browsers. */
interface WebAssemblyApi {
  Module: new (bytes: Uint8Array) => object;
  Instance: new (module: object) => { exports: object };
}

interface KernelExports {
  memory: { buffer: ArrayBuffer };
  compare(rows: number, steps: number): void;
}

/** Undefined where WebAssembly is switched off. */
export function openBitKernel(): BitKernel | undefined {
  const { WebAssembly: api } = globalThis as { WebAssembly?: WebAssemblyApi };
  if (!api) return undefined;
  const { memory, compare } = new api.Instance(new api.Module(assembleModule())).exports as KernelExports;
  const bytes = new Uint8Array(memory.buffer);
  return {
    rowsMax: (width) => (width > rowsAt ? 0 : Math.min(pageBytes / 2, Math.floor((distancesAt - rowsAt) / width))),
    compare(query, rows, distances) {
      bytes.set(query, queryAt);
      bytes.set(rows, rowsAt);
      compare(distances.length, query.length / step);
      distances.set(new Uint16Array(memory.buffer, distancesAt, distances.length));
    },
  };
}

const type = { i32: 0x7f, v128: 0x7b, function: 0x60, none: 0x40 } as const;
/** The instructions that the kernel uses, by their names in the specification of WebAssembly. */
const op = {
  block: [0x02, type.none],
  loop: [0x03, type.none],
  end: [0x0b],
  branchIf: [0x0d, 0],
  isZero: [0x45],
  add: [0x6a],
  subtract: [0x6b],
  store16: [0x3b, 1, 0],
  loadVector: [0xfd, 0x00, 4, 0],
  zeroVector: [0xfd, 0x0c, ...Array<number>(16).fill(0)],
  xor: [0xfd, 0x51],
  countBitsOfBytes: [0xfd, 0x62],
  addPairsOfBytes: [0xfd, 0x7d],
  addPairsOf16: [0xfd, 0x7f],
  addLanesOf16: [0xfd, 0x8e, 0x01],
} as const;
const get = (local: number) => [0x20, local];
const set = (local: number) => [0x21, local];
const setAndGet = (local: number) => [0x22, local];
const lane = (index: number) => [0xfd, 0x1b, index];
const constant = (value: number) => [0x41, ...encodeSigned(value)];

/** Parameters and variables of the function. */
const [rowsLeft, steps, at, out, query, stepsLeft, sum] = [0, 1, 2, 3, 4, 5, 6] as const;
const increase = (local: number, by: number) => [...get(local), ...constant(by), ...op.add, ...set(local)];
const loopWhileLeft = (local: number) => [...get(local), ...constant(1), ...op.subtract, ...setAndGet(local)];

/** For each row: the sum over its steps of the bits that differ, then the sum of the lanes, as 16 bits. */
const kernel = [
  ...[...constant(rowsAt), ...set(at), ...constant(distancesAt), ...set(out)],
  ...[...op.block, ...get(rowsLeft), ...op.isZero, ...op.branchIf],
  ...[...op.loop, ...op.zeroVector, ...set(sum), ...constant(queryAt), ...set(query), ...get(steps), ...set(stepsLeft)],
  ...[...op.loop, ...get(sum), ...get(at), ...op.loadVector, ...get(query), ...op.loadVector, ...op.xor],
  ...[...op.countBitsOfBytes, ...op.addPairsOfBytes, ...op.addLanesOf16, ...set(sum)],
  ...[...increase(at, step), ...increase(query, step), ...loopWhileLeft(stepsLeft), ...op.branchIf, ...op.end],
  ...[...get(out), ...get(sum), ...op.addPairsOf16, ...set(sum)],
  ...[...get(sum), ...lane(0), ...get(sum), ...lane(1), ...op.add, ...get(sum), ...lane(2), ...op.add],
  ...[...get(sum), ...lane(3), ...op.add, ...op.store16, ...increase(out, 2)],
  ...[...loopWhileLeft(rowsLeft), ...op.branchIf, ...op.end, ...op.end, ...op.end],
];

function assembleModule(): Uint8Array {
  const section = (id: number, ...items: number[][]) => {
    const body = [items.length, ...items.flat()];
    return [id, ...encodeUnsigned(body.length), ...body];
  };
  const name = (text: string) => [text.length, ...Buffer.from(text)];
  const variables = [2, 4, type.i32, 1, type.v128];
  const code = [...variables, ...kernel];
  return Uint8Array.from([
    ...[...Buffer.from("\0asm"), 1, 0, 0, 0],
    ...section(1, [type.function, 2, type.i32, type.i32, 0]),
    ...section(3, [0]),
    ...section(5, [0, pages]),
    ...section(7, [...name("memory"), 2, 0], [...name("compare"), 0, 0]),
    ...section(10, [...encodeUnsigned(code.length), ...code]),
  ]);
}

/** Numbers in groups of seven bits, the lowest first (LEB128). */
function encodeUnsigned(value: number): number[] {
  return value < 128 ? [value] : [(value & 127) | 128, ...encodeUnsigned(value >>> 7)];
}

function encodeSigned(value: number): number[] {
  return value < 64 ? [value] : [(value & 127) | 128, ...encodeSigned(value >>> 7)];
}

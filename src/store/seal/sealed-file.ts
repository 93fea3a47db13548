import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { closeSync, createReadStream, createWriteStream, openSync, readSync, rmSync } from "node:fs";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { VarveError } from "../../domain/index.ts";
import { createMissingKeyError, type SealingKey } from "./sealer.ts";

const magic = "VARVE SEALED 1 ";
const headBytes = magic.length + 8 + 1;
const chunkBytes = 1_048_576;
const nonceBytes = 12;
const tagBytes = 16;
const frameHeadBytes = 1 + 4 + nonceBytes + tagBytes;

/** Whether a file was written by `sealFile`. */
export function isSealedFile(file: string): boolean {
  const descriptor = openSync(file, "r");
  try {
    const head = Buffer.alloc(magic.length);
    return readSync(descriptor, head, 0, head.length, 0) === head.length && head.toString("latin1") === magic;
  } finally {
    closeSync(descriptor);
  }
}

/** Encrypts a file in chunks; each chunk knows its place and whether it is the last, so that none can be removed. */
export async function sealFile(source: string, target: string, key: SealingKey): Promise<void> {
  await pipeline(
    Readable.from(sealChunks(source, key)),
    createWriteStream(target, { mode: 0o600, flags: "wx", flush: true }),
  );
}

async function* sealChunks(source: string, key: SealingKey): AsyncGenerator<Buffer> {
  yield Buffer.from(`${magic}${key.id}\n`, "latin1");
  let index = 0;
  for await (const { chunk, isLast } of markLast(createReadStream(source, { highWaterMark: chunkBytes }))) {
    const nonce = randomBytes(nonceBytes);
    const cipher = createCipheriv("aes-256-gcm", key.file, nonce);
    cipher.setAAD(describePlace(index, isLast));
    const body = Buffer.concat([cipher.update(chunk), cipher.final()]);
    const head = Buffer.alloc(5);
    head.writeUInt8(isLast ? 1 : 0, 0);
    head.writeUInt32BE(body.length, 1);
    yield Buffer.concat([head, nonce, cipher.getAuthTag(), body]);
    index += 1;
  }
}

async function* markLast(source: AsyncIterable<Buffer>): AsyncGenerator<{ chunk: Buffer; isLast: boolean }> {
  let before: Buffer = Buffer.alloc(0);
  let hasBefore = false;
  for await (const chunk of source) {
    if (hasBefore) yield { chunk: before, isLast: false };
    before = chunk;
    hasBefore = true;
  }
  yield { chunk: before, isLast: true };
}

function describePlace(index: number, isLast: boolean): Buffer {
  return Buffer.from(`varve file ${index} ${isLast ? "last" : "more"}`);
}

/** Decrypts such a file. A file that was changed or cut off gives an error, and nothing is left of it. */
export async function openSealedFile(source: string, target: string, keys: readonly SealingKey[]): Promise<void> {
  try {
    await pipeline(Readable.from(openChunks(source, keys)), createWriteStream(target, { mode: 0o600, flags: "wx" }));
  } catch (error) {
    rmSync(target, { force: true });
    throw error;
  }
}

async function* openChunks(source: string, keys: readonly SealingKey[]): AsyncGenerator<Buffer> {
  let rest: Buffer = Buffer.alloc(0);
  let key: SealingKey | undefined;
  let index = 0;
  let isWhole = false;
  for await (const piece of createReadStream(source, { highWaterMark: chunkBytes })) {
    rest = Buffer.concat([rest, piece as Buffer]);
    if (key === undefined && rest.length >= headBytes) {
      key = findKey(rest.subarray(0, headBytes).toString("latin1"), keys);
      rest = rest.subarray(headBytes);
    }
    for (;;) {
      if (key === undefined || rest.length < frameHeadBytes) break;
      const length = rest.readUInt32BE(1);
      if (length > 2 * chunkBytes) throw createDamagedError(source);
      if (rest.length < frameHeadBytes + length) break;
      const isLast = rest.readUInt8(0) === 1;
      yield openFrame(rest.subarray(0, frameHeadBytes + length), key, index, isLast, source);
      rest = rest.subarray(frameHeadBytes + length);
      index += 1;
      isWhole = isLast;
    }
  }
  if (!isWhole || rest.length > 0) throw createDamagedError(source);
}

function findKey(head: string, keys: readonly SealingKey[]): SealingKey {
  const id = head.slice(magic.length, magic.length + 8);
  const found = keys.find((key) => key.id === id);
  if (found) return found;
  throw createMissingKeyError(id);
}

function openFrame(frame: Buffer, key: SealingKey, index: number, isLast: boolean, source: string): Buffer {
  const nonce = frame.subarray(5, 5 + nonceBytes);
  const decipher = createDecipheriv("aes-256-gcm", key.file, nonce);
  decipher.setAAD(describePlace(index, isLast));
  decipher.setAuthTag(frame.subarray(5 + nonceBytes, frameHeadBytes));
  try {
    return Buffer.concat([decipher.update(frame.subarray(frameHeadBytes)), decipher.final()]);
  } catch (error) {
    throw createDamagedError(source, error);
  }
}

function createDamagedError(file: string, cause?: unknown): VarveError {
  return new VarveError("BAD_FILE", `The encrypted file ${file} is damaged or incomplete.`, {
    remedy: "Nothing was changed. Use another backup.",
    cause,
  });
}

import { createCipheriv, createDecipheriv, createHmac, hash, hkdfSync } from "node:crypto";
import { LRUCache } from "lru-cache";
import { VarveError } from "../../domain/index.ts";

/** The start of a sealed text. No JSON text and no sentence starts with this control character. */
const mark = "\u0002varve1.";
const nonceBytes = 12;
const tagBytes = 16;
const keyIdLength = 8;
/** Short texts, such as memories, are opened again and again; the last ones stay open in memory. */
const openedMax = 5_000;
const openedLengthMax = 2_000;

export interface SealingKey {
  /** Tells keys apart; derived from the key. */
  id: string;
  cipher: Buffer;
  nonce: Buffer;
  /** Encrypts whole files. */
  file: Buffer;
}

/** Encrypts and decrypts texts of the database. */
export interface Sealer {
  /** The id of the key that new texts are sealed with. */
  readonly keyId: string;
  /** Encrypts a text. The same text gives the same result, so that equal contents can be recognised. */
  seal(text: string): string;
  /** An id of a text that tells nothing about it without the key. */
  identify(text: string): string;
  /** Decrypts a text; one that was never sealed is returned as it is. */
  open(text: string): string;
}

/** Derives the keys for texts from the configured key. */
export function deriveKey(secret: Buffer): SealingKey {
  const derive = (purpose: string) => Buffer.from(hkdfSync("sha256", secret, Buffer.alloc(0), `varve ${purpose}`, 32));
  const id = createHmac("sha256", derive("key id")).update("id").digest("hex").slice(0, keyIdLength);
  return { id, cipher: derive("texts"), nonce: derive("nonces"), file: derive("files") };
}

/** The first key seals; all of them open, so that a key can be replaced. */
export function createSealer(keys: readonly [SealingKey, ...SealingKey[]]): Sealer {
  const [current] = keys;
  const byId = new Map(keys.map((key) => [key.id, key]));
  const opened = new LRUCache<string, string>({ max: openedMax });
  return {
    keyId: current.id,
    seal(text) {
      if (text === "" || (isSealed(text) && byId.has(readKeyId(text)))) return text;
      // A nonce that depends on the text is never used for another text. The digest is cut, so it cannot be continued.
      const plain = Buffer.from(text, "utf8");
      const nonce = hash("sha256", Buffer.concat([current.nonce, plain]), "buffer").subarray(0, nonceBytes);
      const cipher = createCipheriv("aes-256-gcm", current.cipher, nonce);
      const body = Buffer.concat([cipher.update(plain), cipher.final()]);
      const packed = Buffer.concat([nonce, cipher.getAuthTag(), body]).toString("base64");
      return `${mark}${current.id}.${packed}`;
    },
    identify: (text) => createHmac("sha256", current.nonce).update(`id ${text}`).digest("hex").slice(0, 16),
    open(text) {
      if (!isSealed(text)) return text;
      const known = opened.get(text);
      if (known !== undefined) return known;
      const key = byId.get(readKeyId(text));
      if (key === undefined) throw createMissingKeyError(readKeyId(text));
      const packed = Buffer.from(text.slice(mark.length + keyIdLength + 1), "base64");
      const decipher = createDecipheriv("aes-256-gcm", key.cipher, packed.subarray(0, nonceBytes));
      decipher.setAuthTag(packed.subarray(nonceBytes, nonceBytes + tagBytes));
      try {
        const body = Buffer.concat([decipher.update(packed.subarray(nonceBytes + tagBytes)), decipher.final()]);
        const plain = body.toString("utf8");
        if (text.length <= openedLengthMax) opened.set(text, plain);
        return plain;
      } catch (error) {
        throw new VarveError("STORE_CORRUPT", "A sealed text of the database was changed and cannot be opened.", {
          remedy: "Restore the database from a backup.",
          cause: error,
        });
      }
    },
  };
}

function readKeyId(text: string): string {
  return text.slice(mark.length, mark.length + keyIdLength);
}

export function isSealedWith(text: string, keyId: string): boolean {
  return isSealed(text) && readKeyId(text) === keyId;
}

function isSealed(text: string): boolean {
  return text.startsWith(mark);
}

export function createMissingKeyError(keyId: string): VarveError {
  return new VarveError(
    "BAD_CONFIG",
    `The database has texts that are sealed with the key ${keyId}, which is not configured.`,
    {
      remedy: "Set encryption.key to the key they were sealed with, or add it to encryption.previousKeys.",
    },
  );
}

import type { Clock, Random } from "./clock.ts";

const alphabet = "0123456789abcdefghjkmnpqrstvwxyz";

/**
 * A new id: 9 characters of time and 10 random ones, in an alphabet without look-alikes. Later ids sort later, so an
 * index over them grows at its end and stays fast with millions of rows.
 */
export function newId(clock: Clock, random: Random): string {
  let time = Math.max(0, Math.floor(clock.now()));
  let head = "";
  for (let place = 0; place < 9; place += 1) {
    head = alphabet.charAt(time % 32) + head;
    time = Math.floor(time / 32);
  }
  let tail = "";
  for (const byte of random.bytes(10)) tail += alphabet.charAt(byte % 32);
  return head + tail;
}

/** A new session id: a version 4 UUID, the format that agents use. */
export function newUuid(random: Random): string {
  const bytes = Uint8Array.from(random.bytes(16));
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

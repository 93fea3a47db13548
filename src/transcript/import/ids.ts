import { createHash } from "node:crypto";
import type { JsonObject, JsonValue } from "../../domain/index.ts";

/**
 * Ids for records that have none. They come from what the record says and how often the file has said it before, so a
 * file that is read again, after it grew or was rotated, gives the same ids.
 */
export class ContentIds {
  readonly #seen = new Map<string, number>();

  constructor(state?: JsonObject) {
    for (const [hash, count] of Object.entries(state ?? {})) {
      if (typeof count === "number") this.#seen.set(hash, count);
    }
  }

  /** How many different records have been named; a reader that goes on later must know them all. */
  get size(): number {
    return this.#seen.size;
  }

  next(sessionId: string, kind: string, content: JsonValue | undefined, time: JsonValue | undefined): string {
    const hash = createHash("sha256")
      .update(JSON.stringify([sessionId, kind, content ?? null, time ?? null]))
      .digest("hex")
      .slice(0, 24);
    const occurrence = this.#seen.get(hash) ?? 0;
    this.#seen.set(hash, occurrence + 1);
    return occurrence === 0 ? `h-${hash}` : `h-${hash}-${occurrence}`;
  }

  state(): JsonObject {
    return Object.fromEntries(this.#seen);
  }
}

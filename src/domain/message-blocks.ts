import { getParts, type Message, type Part, type Role } from "./message.ts";

/** The metadata field of a session that has messages recorded from a program's requests; the value names the client. */
export const recordedField = "recordedFor";

const reminders = /<system-reminder>(?:(?!<system-reminder>)[\s\S])*?<\/system-reminder>/g;

/**
 * Identifies each part of a message, wherever it was recorded: calls and results by their ids, the rest by its content.
 * Reasoning and a client's reminders come and go between two requests and have no identity.
 */
export function identifyParts(message: Pick<Message, "role" | "content">): (string | undefined)[] {
  return getParts(message).map((part) => identifyPart(message.role, part));
}

/** The identities of the parts that have one. */
export function identifyBlocks(message: Pick<Message, "role" | "content">): string[] {
  return identifyParts(message).filter((block) => block !== undefined);
}

/** The identity of a text. */
export function identifyText(role: Role, text: string): string | undefined {
  const lasting = text.replaceAll(reminders, "").trim();
  return lasting === "" ? undefined : `${role} ${lasting}`;
}

function identifyPart(role: Role, part: Part): string | undefined {
  switch (part.type) {
    case "text":
      return identifyText(role === "tool" ? "user" : role, part.text);
    case "tool_call":
      return `call ${part.callId}`;
    case "tool_result":
      return `result ${part.callId}`;
    case "image":
    case "file":
      return `${part.type} ${JSON.stringify(part.source)}`;
    default:
      return undefined;
  }
}

/** How many blocks two records of one conversation may differ by before they agree again. */
const gapMax = 64;

/**
 * Finds the blocks of one record of a conversation in another record of it. Both are in order; each may have blocks that
 * the other one lacks.
 */
export class BlockAligner {
  readonly #stored: readonly string[];
  #at: number | undefined;

  constructor(stored: readonly string[]) {
    this.#stored = stored;
  }

  /** Returns the position of each block in the stored record; later calls continue after the last one found. */
  match(blocks: readonly string[]): (number | undefined)[] {
    const found: (number | undefined)[] = blocks.map(() => undefined);
    let index = 0;
    this.#at ??= this.#findStart(blocks);
    while (index < blocks.length && this.#at !== undefined) {
      const gap = this.#findAgreement(blocks, index, this.#at);
      if (gap === undefined) {
        index += 1;
        continue;
      }
      index += gap.blocks;
      this.#at += gap.stored;
      found[index] = this.#at;
      index += 1;
      this.#at += 1;
    }
    return found;
  }

  /** The record may begin anywhere in the stored one, for example after a compaction. */
  #findStart(blocks: readonly string[]): number | undefined {
    const first = blocks.slice(0, gapMax).find((block) => this.#stored.includes(block));
    return first === undefined ? undefined : this.#stored.indexOf(first);
  }

  /** The smallest number of blocks to skip on both sides until they agree. */
  #findAgreement(blocks: readonly string[], index: number, at: number): { blocks: number; stored: number } | undefined {
    if (at >= this.#stored.length) return undefined;
    for (let gap = 0; gap <= gapMax; gap += 1) {
      for (let skipped = 0; skipped <= gap; skipped += 1) {
        const block = blocks[index + skipped];
        if (block !== undefined && block === this.#stored[at + gap - skipped]) {
          return { blocks: skipped, stored: gap - skipped };
        }
      }
    }
    return undefined;
  }
}

import type { Store } from "../../store/index.ts";
import type { ConversationRef, StoredSummary } from "../dag.ts";
import type { Frontier } from "../frontier.ts";
import { type MessageEntry, newestRaw, oldestRaw } from "../window.ts";

/**
 * Messages that a sweep has read ahead: the oldest ones after the summaries, and the newest ones. The next pass starts
 * with what the previous one left. After a change of the branch everything is read again.
 */
export class SweepBuffer {
  /** The summaries that were read, by id. */
  readonly summaries = new Map<string, StoredSummary>();
  private oldest: MessageEntry[] = [];
  private newest: MessageEntry[] = [];
  private branch = "";
  private head = 0;
  private newestCount = 0;

  private readonly store: Store;
  private readonly ref: ConversationRef;

  constructor(store: Store, ref: ConversationRef) {
    this.store = store;
    this.ref = ref;
  }

  /** The oldest messages after the summaries: more than `tokens` of them where there are that many. */
  async readOldest(frontier: Frontier, tokens: number): Promise<MessageEntry[]> {
    this.checkBranch(frontier);
    this.oldest = this.oldest.filter((one) => one.entry.seq > frontier.coveredSeq);
    const held = this.oldest.reduce((sum, one) => sum + one.item.tokens, 0);
    if (held <= tokens) {
      const after = this.oldest.at(-1)?.entry.seq ?? frontier.coveredSeq;
      const more = await oldestRaw(this.store, this.ref, { ...frontier, coveredSeq: after }, 2 * tokens - held);
      this.oldest.push(...more);
    }
    return this.oldest;
  }

  async readNewest(frontier: Frontier, count: number): Promise<MessageEntry[]> {
    this.checkBranch(frontier);
    const head = frontier.path.at(-1)?.upTo ?? 0;
    if (head !== this.head || count > this.newestCount) {
      this.newest = await newestRaw(this.store, this.ref, frontier, count);
      this.head = head;
      this.newestCount = count;
    }
    return this.newest.filter((one) => one.entry.seq > frontier.coveredSeq).slice(-count);
  }

  private checkBranch(frontier: Frontier): void {
    const branch = JSON.stringify(
      frontier.path.map((one, index) => [
        one.conversation,
        one.branch,
        index === frontier.path.length - 1 ? 0 : one.upTo,
      ]),
    );
    if (branch === this.branch) return;
    this.branch = branch;
    this.oldest = [];
    this.newest = [];
    this.head = 0;
    this.newestCount = 0;
  }
}

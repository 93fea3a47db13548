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
  /** The read for the next pass. */
  private ahead: Promise<void> | undefined;
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
    await this.ahead;
    this.oldest = this.oldest.filter((one) => one.entry.seq > frontier.coveredSeq);
    const held = countTokens(this.oldest);
    if (held <= tokens) this.oldest.push(...(await this.readMore(frontier, 2 * tokens - held)));
    return this.oldest;
  }

  /**
   * Reads what the next pass will need while the summary up to `coveredSeq` is written. Its failure is not reported: the
   * next pass reads again, and fails by itself.
   */
  readAhead(frontier: Frontier, coveredSeq: number, tokens: number): void {
    const held = countTokens(this.oldest.filter((one) => one.entry.seq > coveredSeq));
    if (held > tokens) return;
    const { branch } = this;
    this.ahead = this.readMore(frontier, 2 * tokens - held).then(
      (more) => {
        if (branch === this.branch) this.oldest.push(...more);
      },
      () => undefined,
    );
  }

  private readMore(frontier: Frontier, tokens: number): Promise<MessageEntry[]> {
    const after = this.oldest.at(-1)?.entry.seq ?? frontier.coveredSeq;
    return oldestRaw(this.store, this.ref, { ...frontier, coveredSeq: after }, tokens);
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

function countTokens(messages: readonly MessageEntry[]): number {
  return messages.reduce((sum, one) => sum + one.item.tokens, 0);
}

import type { Visibility } from "../../authorization/index.ts";
import { VarveError } from "../../domain/index.ts";
import type { MessageHit, SearchService } from "../../search/index.ts";
import type { Store } from "../../store/index.ts";
import { estimateTokens } from "../../text/index.ts";
import { readEntries } from "../../transcript/index.ts";
import { passageLine } from "../view/recall-messages.ts";
import { listCoveredEntries } from "./describe-summary.ts";
import { type Grant, spendGrant } from "./grants.ts";

interface Passage {
  seq: number;
  text: string;
  tokens: number;
}

export interface SummaryOffer {
  id: string;
  snippet: string;
}

const candidates = 200;
const unrankedMax = 2_000;
const offeredSummaries = 8;
const snippetChars = 300;
/** How many of the best messages are read together with the messages around them. */
const anchorsMax = 8;

/** The history that a delegated reader has read, within the tokens of its grant. */
export class Reading {
  private readonly store: Store;
  private readonly search: SearchService;
  private readonly visibility: Visibility;
  private readonly grant: Grant;
  private readonly timeZone: string;
  private readonly passages = new Map<number, Passage>();
  /** The messages that matched, best first. */
  private readonly ranked: number[] = [];
  tokensRead = 0;
  /** Messages that may matter and did not fit. */
  leftOut = 0;

  constructor(store: Store, search: SearchService, visibility: Visibility, grant: Grant, timeZone: string) {
    this.store = store;
    this.search = search;
    this.visibility = visibility;
    this.grant = grant;
    this.timeZone = timeZone;
  }

  get isEmpty(): boolean {
    return this.passages.size === 0;
  }

  /** Reads the messages that match some words, best first, up to a number of tokens. Returns how many were new. */
  async searchMessages(words: string, tokens: number): Promise<number> {
    return this.read(await this.findVisible(words), tokens);
  }

  /** Reads the messages under some summaries: those that match the words first. */
  async openSummaries(ids: string[], words: string, tokens: number): Promise<number> {
    const { agent, conversations } = this.visibility;
    const seqs = await listCoveredEntries(this.store, agent, ids, conversations);
    const inside = new Set(seqs);
    const fitting = (await this.findVisible(words)).filter(({ entry }) => inside.has(entry.seq));
    const known = new Set(fitting.map(({ entry }) => entry.seq));
    const unread = seqs.filter((seq) => !known.has(seq) && !this.passages.has(seq));
    this.leftOut += Math.max(0, unread.length - unrankedMax);
    const rest = await readEntries(this.store, agent, unread.slice(0, unrankedMax), "reference");
    return this.read([...fitting, ...rest.map((entry) => ({ entry, score: 0 }))], tokens);
  }

  /** Reads on around the best messages: a question is often answered by the message after it. */
  async readAround(tokens: number): Promise<number> {
    const { agent } = this.visibility;
    const around: number[] = [];
    for (const seq of this.ranked.slice(0, anchorsMax)) around.push(...(await this.listNeighbours(seq)));
    const wanted = [...new Set(around)].filter((seq) => !this.passages.has(seq));
    const entries = await readEntries(this.store, agent, wanted, "reference");
    return this.read(
      entries.map((entry) => ({ entry, score: 0 })),
      tokens,
    );
  }

  /** Summaries that match some words and can be opened. */
  async offerSummaries(words: string, signal?: AbortSignal): Promise<SummaryOffer[]> {
    const { agent, conversations } = this.visibility;
    const limit = conversations === undefined ? offeredSummaries : candidates;
    const { results } = await this.search.find(words, { agent, kinds: ["summary"], limit, noNetwork: true, signal });
    return results
      .filter(({ conversation }) => conversations === undefined || conversations.includes(conversation ?? -1))
      .slice(0, offeredSummaries)
      .map(({ id, text }) => ({ id, snippet: text.replaceAll(/\s+/g, " ").slice(0, snippetChars).toWellFormed() }));
  }

  /** The passages that were read, in the order they were said; with a limit, the best of them. */
  render(tokensMax = Number.POSITIVE_INFINITY): { text: string; citations: string[]; leftOut: number } {
    const inOrder = [...this.passages.values()].sort((a, b) => this.rankOf(a.seq) - this.rankOf(b.seq));
    const chosen: Passage[] = [];
    let tokens = 0;
    for (const passage of inOrder) {
      if (tokens + passage.tokens > tokensMax) continue;
      tokens += passage.tokens;
      chosen.push(passage);
    }
    chosen.sort((a, b) => a.seq - b.seq);
    return {
      text: chosen.map((one) => one.text).join(""),
      citations: chosen.map(({ seq }) => `msg#${seq}`),
      leftOut: inOrder.length - chosen.length,
    };
  }

  private rankOf(seq: number): number {
    const rank = this.ranked.indexOf(seq);
    return rank === -1 ? Number.MAX_SAFE_INTEGER : rank;
  }

  private async findVisible(words: string): Promise<MessageHit[]> {
    return this.search.findMessages({ visibility: this.visibility, prompt: words, limit: candidates });
  }

  private async listNeighbours(seq: number): Promise<number[]> {
    const [own] = await readEntries(this.store, this.visibility.agent, [seq], "reference");
    if (!own) return [];
    const near = (direction: "asc" | "desc") =>
      this.store.db
        .selectFrom("entries")
        .select("seq")
        .where("agent", "=", this.visibility.agent)
        .where("conversation", "=", own.conversation)
        .where("seq", direction === "asc" ? ">" : "<", seq)
        .where("kind", "in", ["user", "assistant"])
        .orderBy("seq", direction)
        .limit(1)
        .execute();
    return [...(await near("desc")), ...(await near("asc"))].map((row) => row.seq);
  }

  private async read(hits: readonly MessageHit[], tokensMax: number): Promise<number> {
    const fresh: Passage[] = [];
    let tokens = 0;
    for (const { entry, score } of hits) {
      if (score > 0 && !this.ranked.includes(entry.seq)) this.ranked.push(entry.seq);
      if (this.passages.has(entry.seq)) continue;
      const text = passageLine(entry, { timeZone: this.timeZone });
      const cost = estimateTokens(text);
      if (tokens + cost > Math.min(tokensMax, this.grant.tokenCap - this.tokensRead)) {
        this.leftOut += 1;
        continue;
      }
      tokens += cost;
      fresh.push({ seq: entry.seq, text, tokens: cost });
    }
    if (fresh.length === 0) return 0;
    if (!(await spendGrant(this.store, this.grant, tokens))) {
      throw new VarveError("REFUSED", `The grant ${this.grant.id} ended while it was read.`, { remedy: "Ask again." });
    }
    this.tokensRead += tokens;
    for (const passage of fresh) this.passages.set(passage.seq, passage);
    return fresh.length;
  }
}

import type { Store } from "../../store/index.ts";
import { estimateMessageTokens } from "../../text/index.ts";
import { type ConversationRef, readSourceIds, readSummaries, type StoredSummary } from "../dag.ts";
import { mergeInDetail } from "../summary/built-in.ts";
import { timeRange, timeWriter } from "../summary-text.ts";
import { summaryXml } from "./render-summaries.ts";
import { limitSummary, shortenSummary } from "./shorten-summary.ts";

/** An item of a cut through the DAG: a summary as it is shown, or one line for several. */
export interface CutItem {
  /** The summaries it shows; several for a line that names them. */
  summaries: StoredSummary[];
  text: string;
  tokens: number;
  why: string;
}

export interface CutOptions {
  /** The tokens that the summaries may take. */
  tokens: number;
  /** Summaries that end before this entry are not opened: `/new` retained them only in this form. */
  openFrom?: number;
  timeZone?: string;
}

/** A summary with the sources that its XML names. */
interface Node {
  summary: StoredSummary;
  /** The ids of its sources. */
  sources: readonly string[];
  tokens: number;
}

/** A shorter text of a summary says too little. */
const shortenedTokensMin = 160;

/**
 * Chooses the cut through the DAG for a number of tokens. The given summaries are the coarsest cut. While there is room,
 * condensed summaries are replaced by their sources: the deepest first, so that the whole history has one resolution,
 * and among those the newest first. What is left when none can be opened any more makes the others of that depth more
 * detailed, or shows the newest sources of one after it. Where not even the coarsest cut fits, the older part becomes
 * shorter, and the oldest one line.
 */
export async function chooseCut(
  store: Store,
  ref: ConversationRef,
  coarsest: readonly StoredSummary[],
  options: CutOptions,
): Promise<CutItem[]> {
  const reader = new NodeReader(store, ref.agent, options.timeZone);
  // Of a long list only the newest can be shown: the cost depends on the budget, not on the length of the history.
  const shown = countShown(coarsest, options.tokens);
  const older = coarsest
    .slice(0, coarsest.length - shown)
    .map((summary) => ({ summary, sources: [], tokens: summary.tokens }));
  let nodes = [...older, ...(await reader.readNodes(coarsest.slice(coarsest.length - shown)))];
  let used = nodes.reduce((sum, node) => sum + node.tokens, 0);
  if (used > options.tokens) return fitCoarsest(nodes, options);
  for (let depth = Math.max(0, ...nodes.map(({ summary }) => summary.depth)); depth > 0; depth -= 1) {
    for (let index = nodes.length - 1; index >= 0; index -= 1) {
      const node = nodes[index];
      if (node === undefined || node.summary.depth !== depth || !canOpen(node, options)) continue;
      const children = await reader.readSources(node);
      const cost = children.reduce((sum, child) => sum + child.tokens, 0) - node.tokens;
      if (used + cost > options.tokens) return fillLast(reader, nodes, index, options.tokens - used, options);
      nodes = [...nodes.slice(0, index), ...children, ...nodes.slice(index + 1)];
      used += cost;
    }
  }
  return nodes.map((one) => toItem(one, options, "stands for what came before"));
}

/** How many of the newest summaries can take part in a view. */
function countShown(summaries: readonly StoredSummary[], tokens: number): number {
  let count = 0;
  for (let left = tokens; count < summaries.length && left > 0; count += 1)
    left -= summaries.at(-1 - count)?.tokens ?? 0;
  return count;
}

function canOpen({ summary, sources }: Node, { openFrom = 0 }: CutOptions): boolean {
  return sources.length > 0 && summary.quality.isSealed !== true && summary.lastSeq >= openFrom;
}

/** Below this, the room is left to the messages before the tail. */
const detailTokensMin = 200;

/** Uses the room that is left when the node at `last` can no longer be opened as a whole. */
async function fillLast(
  reader: NodeReader,
  nodes: readonly Node[],
  last: number,
  room: number,
  options: CutOptions,
): Promise<CutItem[]> {
  const items = nodes.map((one) => toItem(one, options, "stands for what came before"));
  const { depth } = nodes[last]?.summary ?? { depth: 0 };
  const equals = nodes.flatMap((node, index) =>
    index <= last && node.summary.depth === depth && canOpen(node, options) ? [index] : [],
  );
  let left = room;
  for (const [done, index] of equals.toReversed().entries()) {
    const node = nodes[index];
    const share = Math.floor(left / (equals.length - done));
    if (node === undefined || share < detailTokensMin) continue;
    const detailed = detailItem(node, await reader.readSources(node), share, options);
    if (detailed === undefined) break;
    left -= detailed.tokens - (items[index]?.tokens ?? 0);
    items[index] = detailed;
  }
  const node = nodes[last];
  if (left === room && node !== undefined) {
    items.splice(last, 1, ...openInPart(node, await reader.readSources(node), room, options));
  }
  return items;
}

/** A condensed summary with more of what its sources say. */
function detailItem(node: Node, children: readonly Node[], extra: number, options: CutOptions): CutItem | undefined {
  const { summary, sources: ids } = node;
  const frame = countTokens(summaryXml({ ...summary, content: "" }, ids, options.timeZone, detailPart));
  const most = node.tokens + extra;
  for (const share of [1, 0.93, 0.8]) {
    const target = Math.floor((most - frame) * share);
    const content = mergeInDetail(
      children.map((child) => child.summary.content),
      target,
      summary.sourceMessageTokens,
    );
    if (content === undefined) return undefined;
    const text = summaryXml({ ...summary, content }, ids, options.timeZone, detailPart);
    const tokens = countTokens(text);
    if (tokens <= most)
      return { summaries: [{ ...summary, content }], text, tokens, why: "in more detail: there was room" };
  }
  return undefined;
}

const detailPart = "in more detail";

/** Shows the newest sources of a summary after it, as many as fit; without room for one, the summary alone. */
function openInPart(node: Node, children: readonly Node[], room: number, options: CutOptions): CutItem[] {
  const whole = toItem(node, options, "stands for what came before");
  let best = [whole];
  for (let from = children.length - 1; from > 0; from -= 1) {
    const shown = children.slice(from);
    const limited = limitItem(whole, shown[0]?.summary.firstSeq ?? 0, options);
    const items = [limited, ...shown.map((child) => toItem(child, options, "opened: there was room"))];
    if (items.reduce((sum, item) => sum + item.tokens, 0) > whole.tokens + room) break;
    best = items;
  }
  return best;
}

/** The newest summaries whole, the one that no longer fits shortened, and one line for all before it. */
function fitCoarsest(nodes: readonly Node[], options: CutOptions): CutItem[] {
  const items: CutItem[] = [];
  let left = options.tokens;
  for (let index = nodes.length - 1; index >= 0; index -= 1) {
    const node = nodes[index];
    if (node === undefined) continue;
    const older = nodes.slice(0, index);
    const line = lineItem(older, options);
    const room = left - (older.length === 0 ? 0 : line.tokens);
    const whole = toItem(node, options, "stands for what came before");
    if (whole.tokens <= room) {
      items.unshift(whole);
      left -= whole.tokens;
      continue;
    }
    const shortened = room >= shortenedTokensMin ? shortenItem(whole, room, options) : undefined;
    if (shortened === undefined) items.unshift(lineItem(nodes.slice(0, index + 1), options));
    else items.unshift(...(older.length === 0 ? [] : [line]), shortened);
    return items;
  }
  return items;
}

function toItem(node: Node, { timeZone }: CutOptions, why: string): CutItem {
  return {
    summaries: [node.summary],
    text: summaryXml(node.summary, node.sources, timeZone),
    tokens: node.tokens,
    why,
  };
}

/** The item without what it says about messages from `seq` on. */
export function limitItem(item: CutItem, seq: number, { timeZone }: Pick<CutOptions, "timeZone">): CutItem {
  const [summary] = item.summaries;
  if (item.summaries.length !== 1 || summary === undefined || summary.lastSeq < seq) return item;
  const content = limitSummary(summary.content, seq);
  if (content === summary.content) return item;
  const text = summaryXml(
    { ...summary, content },
    [],
    timeZone,
    `up to msg#${seq - 1}; what follows is shown in more detail`,
  );
  const tokens = countTokens(text);
  return tokens < item.tokens ? { ...item, text, tokens, why: `${item.why}; shown in part` } : item;
}

function shortenItem(item: CutItem, maxTokens: number, { timeZone }: CutOptions): CutItem | undefined {
  const [summary] = item.summaries;
  if (summary === undefined) return undefined;
  const frame = countTokens(summaryXml({ ...summary, content: "" }, [], timeZone, "shortened"));
  // Escaping makes a text longer; shorter targets are tried until it fits.
  for (const share of [1, 0.9, 0.75, 0.5]) {
    const content = shortenSummary(summary.content, Math.floor((maxTokens - frame) * share));
    const text = summaryXml({ ...summary, content }, [], timeZone, "shortened");
    const tokens = countTokens(text);
    if (tokens <= maxTokens) return { ...item, text, tokens, why: "shortened to fit" };
  }
  return undefined;
}

/** One line that names several summaries: how many messages, from when to when, and how to open them. */
function lineItem(nodes: readonly Node[], { timeZone }: CutOptions): CutItem {
  const summaries = nodes.map(({ summary }) => summary);
  const [first, last] = [summaries[0], summaries.at(-1)];
  const count = summaries.reduce((sum, one) => sum + one.sourceMessageCount, 0);
  const range = timeRange(first?.earliestAt ?? 0, last?.latestAt ?? 0, timeWriter(timeZone));
  const ids = first === last ? first?.id : `${first?.id} to ${last?.id}`;
  const text = `[${count} earlier messages, ${range}: ${summaries.length === 1 ? "a summary" : `${summaries.length} summaries`} not shown here; open ${ids}]`;
  return { summaries, text, tokens: countTokens(text), why: "one line; no room for the summary" };
}

export function countTokens(text: string): number {
  return estimateMessageTokens({ content: text });
}

/** Reads summaries with the ids of their sources, and the sources of those that are opened, once each. */
class NodeReader {
  private readonly store: Store;
  private readonly agent: string;
  private readonly timeZone: string | undefined;
  private readonly opened = new Map<string, Node[]>();

  constructor(store: Store, agent: string, timeZone: string | undefined) {
    this.store = store;
    this.agent = agent;
    this.timeZone = timeZone;
  }

  async readNodes(summaries: readonly StoredSummary[]): Promise<Node[]> {
    const condensed = summaries.filter(({ kind }) => kind === "condensed");
    const ids = await readSourceIds(this.store.db, this.agent, condensed);
    return summaries.map((summary) => {
      const sources = ids.get(summary.id) ?? [];
      return { summary, sources, tokens: countTokens(summaryXml(summary, sources, this.timeZone)) };
    });
  }

  async readSources({ summary, sources }: Node): Promise<Node[]> {
    const known = this.opened.get(summary.id);
    if (known !== undefined) return known;
    const nodes = await this.readNodes(await readSummaries(this.store.db, this.agent, sources));
    this.opened.set(summary.id, nodes);
    return nodes;
  }
}

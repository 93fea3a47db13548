import type { Store } from "../../store/index.ts";
import type { ConversationRef } from "../dag.ts";
import type { Frontier } from "../frontier.ts";
import { type MessageEntry, newestRaw } from "../window.ts";
import { dropBrokenStart, groupMessages, type MessageGroup, sumTokens } from "./message-groups.ts";
import { lineTokens } from "./shown-window.ts";
import { type CutItem, limitItem } from "./summary-cut.ts";
import { applyPruning } from "./tail.ts";
import type { AssembleOptions } from "./view-types.ts";

const fillRounds = 4;

const fillTokensMin = 80;

/**
 * Fills the room that the cut leaves with messages before the tail. What summaries no longer need to say about those
 * makes room for more, so it is done in a few rounds.
 */
export async function fillRoom(
  store: Store,
  ref: ConversationRef,
  frontier: Frontier,
  options: AssembleOptions,
  cut: CutItem[],
  { room, budget }: { room: number; budget: number },
): Promise<{ items: CutItem[]; older: MessageGroup[] }> {
  let items = cut;
  let older: MessageGroup[] = [];
  const sealed = frontier.summaries.findLast(({ quality }) => quality.isSealed === true);
  const begin = Math.max(options.begin?.seq ?? 0, (sealed?.lastSeq ?? -1) + 1);
  const past = { ...frontier, coveredSeq: Math.max(0, begin - 1) };
  // Every round starts with the same messages.
  const pages = new Map<number, OlderPage>();
  const read = async (before: number): Promise<OlderPage> => {
    const known = pages.get(before);
    if (known !== undefined) return known;
    const entries = await newestRaw(store, ref, past, olderPage, undefined, before);
    const isLast = entries.length < olderPage;
    // A page may begin in the middle of a step, which is read again with the next page.
    const all = groupMessages(applyPruning(entries, frontier.prunedSeq, options), budget);
    const groups = isLast ? all : dropBrokenStart(all);
    const page = { entries, groups, isLast };
    pages.set(before, page);
    return page;
  };
  for (let round = 0, saved = 0; round < fillRounds; round += 1) {
    older = await extendBack(read, frontier.coveredSeq + 1, cut, room - sumTokens(cut) + saved);
    const firstSeq = older[0]?.messages[0]?.seq;
    if (firstSeq === undefined) break;
    items = dropCovered(cut, firstSeq, options.timeZone);
    const left = room - sumTokens(items) - sumTokens(older);
    if (left < fillTokensMin) break;
    saved += left;
  }
  return { items, older };
}

/**
 * Messages that the newest summaries cover, newest first, while there is room: they come right before the tail. A summary
 * of which all messages are shown makes room for more.
 */
async function extendBack(
  read: (before: number) => Promise<OlderPage>,
  end: number,
  items: readonly CutItem[],
  room: number,
): Promise<MessageGroup[]> {
  const shown: MessageGroup[] = [];
  const covering = [...items];
  let left = room;
  let before = end;
  while (covering.length > 0 && left >= lineTokens) {
    const { entries, groups, isLast } = await read(before);
    for (const group of groups.toReversed()) {
      while (covering.length > 0 && (covering.at(-1)?.summaries[0]?.firstSeq ?? 0) >= before) {
        left += covering.pop()?.tokens ?? 0;
      }
      const fitted = group.tokens <= left ? group : cutGroup(group, entries, left);
      if (fitted !== undefined) {
        shown.unshift(fitted);
        left -= fitted.tokens;
        before = fitted.messages[0]?.seq ?? before;
      }
      if (fitted !== group) return shown;
    }
    if (isLast || groups.length === 0) break;
  }
  return shown;
}

/** Messages that are read at once when the view is extended. */
const olderPage = 100;

interface OlderPage {
  entries: MessageEntry[];
  groups: MessageGroup[];
  /** Whether nothing comes before it. */
  isLast: boolean;
}

const cutTokensMin = 90;

/** The group that no longer fits, cut to the room that is left. */
function cutGroup(group: MessageGroup, entries: readonly MessageEntry[], left: number): MessageGroup | undefined {
  if (left < cutTokensMin) return undefined;
  const hasCalls = group.messages.length > 1;
  const [cut] = groupMessages(entriesOf(group, entries), Math.floor(left / (hasCalls ? 0.36 : 0.26)));
  return cut !== undefined && cut.tokens <= left ? cut : undefined;
}

function entriesOf(group: MessageGroup, entries: readonly MessageEntry[]): MessageEntry[] {
  const seqs = new Set(group.messages.map(({ seq }) => seq));
  return entries.filter(({ entry }) => seqs.has(entry.seq));
}

/** Summaries of which every message is shown are dropped; one that is shown in part keeps the lines about the rest. */
function dropCovered(items: readonly CutItem[], firstSeq: number, timeZone: string | undefined): CutItem[] {
  return items.flatMap((item) => {
    const [first] = item.summaries;
    if (first !== undefined && first.firstSeq >= firstSeq) return [];
    return [limitItem(item, firstSeq, { timeZone })];
  });
}

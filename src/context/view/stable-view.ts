import { createHash } from "node:crypto";
import type { Store } from "../../store/index.ts";
import type { ConversationRef, StoredSummary } from "../dag.ts";
import type { Frontier } from "../frontier.ts";
import type { TraceItem } from "../items.ts";
import { measureSummaries } from "../measure.ts";
import { isRetained } from "../session-boundary.ts";
import { fillRoom } from "./fill-room.ts";
import { type ShownMessage, sumTokens } from "./message-groups.ts";
import { chooseRaw, growthShare, lineTokens, readOwnRequest } from "./shown-window.ts";
import { type CutItem, chooseCut } from "./summary-cut.ts";
import { groupTail, readTail } from "./tail.ts";
import { traceDropped, traceItem, traceMessage } from "./view-trace.ts";
import type { AssembleOptions } from "./view-types.ts";

/** The part of a view that does not depend on the prompt: summaries, then messages and lines for runs of messages. */
export interface StableView {
  items: CutItem[];
  /** Messages in order; a text is one line that stands for a run of messages. */
  raw: (ShownMessage | string)[];
  trace: TraceItem[];
  /** Whether every message of the conversation is in view, word for word. */
  isAll: boolean;
  /** The tokens of the coarsest cut and of the messages after it, as far as they were read. */
  contextTokens: number;
  /** Names the cut: while it stays the same, a view is a prefix of the next one. */
  cut: string;
}

export interface StableOptions extends AssembleOptions {
  /** The tokens that are kept free after the stable part. */
  reserveTokens: number;
}

/** The share of the stable budget that summaries keep when messages would take all of it. */
const summaryShareMin = 0.35;

/**
 * Chooses the stable part of a view. It is a function of the state of compaction, the budget and the size of the tail in
 * steps: the same until a compaction, another budget, or until the messages have outgrown the room left for them.
 */
export async function chooseStable(
  store: Store,
  ref: ConversationRef,
  frontier: Frontier,
  options: StableOptions,
): Promise<StableView> {
  const begin = options.begin?.seq ?? 0;
  const read = await readTail(store, ref, frontier, options);
  const whole = groupTail(read, options.budgetTokens);
  const isAll = frontier.summaries.length === 0 && begin === 0 && whole.isComplete;
  if (isAll && sumTokens(whole.groups) + sumTokens(whole.leading) <= options.budgetTokens) {
    const messages = whole.groups.flatMap((group) => group.messages);
    const raw = [...whole.leading.map(({ text }) => text), ...messages];
    const trace = messages.map((one) => traceMessage(one, "everything fits"));
    return {
      items: [],
      raw,
      trace,
      isAll: messages.every((one) => !one.isCut),
      contextTokens: sumTokens(whole.groups),
      cut: "all",
    };
  }
  const budget = options.budgetTokens - options.reserveTokens;
  const tail = options.reserveTokens === 0 ? whole : groupTail(read, budget);
  const retained = frontier.summaries.filter((one) => isRetained(one, options.begin));
  const coarsest = retained.reduce((total, one) => total + one.tokens + lineTokens + 30, 0);
  const least = Math.min(coarsest, Math.floor(budget * summaryShareMin));
  const window = await chooseRaw(store, ref, frontier, tail, budget - least, budget, options);
  const step = Math.max(1, Math.floor(budget * growthShare));
  const own = window.isWhole ? await findOwn(store, ref, frontier, window.raw, budget, options) : undefined;
  const tailTokens = window.tokens + (own?.tokens ?? 0);
  const room = Math.max(Math.min(least, budget - tailTokens), budget - (Math.floor(tailTokens / step) + 1) * step);
  const { timeZone } = options;
  const cut = await chooseCut(store, ref, retained, { tokens: room, openFrom: begin, timeZone });
  const { items, older } = window.isWhole
    ? await fillRoom(store, ref, frontier, options, cut, { room, budget })
    : { items: cut, older: [] };
  const earlier = older.flatMap((group) => group.messages);
  const extra = own === undefined || earlier.some(({ seq }) => seq <= own.seq) ? earlier : [own, ...earlier];
  return {
    items,
    raw: [...extra, ...window.raw],
    trace: [
      ...items.flatMap(traceItem),
      ...traceDropped(frontier.summaries, retained),
      ...extra.map((one) =>
        traceMessage(one, one === own ? "the request of the messages after it" : "opened: there was room"),
      ),
      ...window.trace,
    ],
    isAll: false,
    contextTokens: (await sumShown(store, ref, retained, timeZone)) + sumTokens(whole.groups),
    cut: nameCut(items, [...extra, ...window.raw]),
  };
}

/** The tokens of the coarsest cut, with every tag. */
async function sumShown(
  store: Store,
  { agent }: ConversationRef,
  summaries: readonly StoredSummary[],
  timeZone: string | undefined,
): Promise<number> {
  const sizes = await measureSummaries(store.db, agent, summaries, timeZone);
  return [...sizes.values()].reduce((total, tokens) => total + tokens, 0);
}

/** The request that the first message after the summaries belongs to, when a summary covers it. */
async function findOwn(
  store: Store,
  ref: ConversationRef,
  frontier: Frontier,
  raw: StableView["raw"],
  budget: number,
  options: AssembleOptions,
): Promise<ShownMessage | undefined> {
  const first = raw.find((one) => typeof one !== "string");
  if (frontier.summaries.length === 0 || first?.isRequest === true) return undefined;
  return readOwnRequest(store, ref, frontier, first?.seq ?? Number.MAX_SAFE_INTEGER, budget, options);
}

/** The items with their sizes and the first message after them: what a view shows before its newest messages. */
function nameCut(items: readonly CutItem[], raw: StableView["raw"]): string {
  const first = raw.findIndex((one) => typeof one !== "string");
  const begin = raw[first];
  const parts = items.map(({ summaries, tokens }) => `${summaries[0]?.id}:${tokens}`);
  const lines = raw.filter((one) => typeof one === "string");
  const text = [...parts, ...lines, typeof begin === "object" ? `${begin.seq}:${begin.tokens}` : ""].join(" ");
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}

import type { Message } from "../../domain/index.ts";
import type { SearchService } from "../../search/index.ts";
import type { Store } from "../../store/index.ts";
import { estimateMessageTokens, estimateTokens } from "../../text/index.ts";
import { cleanForProvider } from "../../transcript/index.ts";
import { checkBudget } from "../compaction/sweep.ts";
import type { ConversationRef } from "../dag.ts";
import { type Frontier, loadFrontier } from "../frontier.ts";
import { isRetained } from "../session-boundary.ts";
import { isWorkLogText } from "../summary/work-log/parse.ts";
import type { ShownMessage } from "./message-groups.ts";
import { recallBlock } from "./recall-messages.ts";
import { systemPromptAddition } from "./render-summaries.ts";
import { growthShare } from "./shown-window.ts";
import { chooseStable, type StableView } from "./stable-view.ts";
import type { AssembleOptions, ContextView } from "./view-types.ts";

/** The share of the budget that is reserved for messages that the prompt recalls: more in chats than in work. */
const recallShareOfChat = 0.7;
const recallShareOfWork = 0.3;
/** The most recalled tokens, however large the window is: more is noise. */
const recallTokensMax = 8_000;
/** Below this budget the reserve for recall shrinks, because the newest messages matter more. */
const smallBudget = 4_000;
/**
 * From this budget on a view is the prompt of a model's window, and the next messages need room in it: recall leaves them
 * theirs, and brings only what is clearly relevant. Otherwise it would refill at once what a compaction has emptied.
 */
const windowBudget = 12_000;
/** How often a view is made smaller when the provider's hygiene made it larger. */
const attemptsMax = 6;

/**
 * Assembles what the model sees: a cut through the summaries, the messages after them, and what the prompt recalls. It
 * never exceeds the budget, counted as it is sent. The cost depends on the budget, not on the length of the history, and
 * the prefix never changes between two compactions, except when the messages outgrow the room that was left for them.
 */
export async function assemble(
  { store, search }: { store: Store; search: Pick<SearchService, "findMessages"> },
  ref: ConversationRef,
  options: AssembleOptions,
): Promise<ContextView> {
  checkBudget(options.budgetTokens);
  const frontier = await loadFrontier(store, ref, { opening: options.snapshot, boundary: options.begin });
  const retained = frontier.summaries.filter((one) => isRetained(one, options.begin));
  const addition = systemPromptAddition(retained, { budgetTokens: options.budgetTokens });
  const budget = options.budgetTokens - estimateTokens(addition ?? "");
  const reserveTokens = reserveForRecall(budget, frontier, options);
  // Whatever the hygiene adds is taken from the room of the next attempt.
  let added = 0;
  for (let attempt = 0; ; attempt += 1) {
    const budgetTokens = budget - added;
    const stable = await chooseStable(store, ref, frontier, { ...options, budgetTokens, reserveTokens });
    const view = await complete(search, ref, stable, budgetTokens, options);
    const cleaned = options.provider ? cleanForProvider(view.messages, options.provider).messages : view.messages;
    const tokens = countMessages(cleaned);
    if (tokens <= budget || attempt >= attemptsMax) {
      const isShown = stable.items.length > 0 && addition !== undefined;
      return {
        messages: cleaned,
        estimatedTokens: tokens + (isShown ? estimateTokens(addition) : 0),
        contextTokens: stable.contextTokens,
        cut: stable.cut,
        ...(isShown ? { systemPromptAddition: addition } : {}),
        trace: view.trace,
      };
    }
    added += tokens - budget + 16 * attempt;
  }
}

/** The tokens that are kept free for recall. They do not depend on the prompt, so that the stable part does not either. */
function reserveForRecall(budget: number, { summaries }: Frontier, { prompt }: AssembleOptions): number {
  if (prompt === undefined) return 0;
  const isWork = summaries.some(({ content }) => isWorkLogText(content));
  const share = (isWork ? recallShareOfWork : recallShareOfChat) * Math.min(1, budget / smallBudget);
  return Math.min(Math.floor(budget * share), recallTokensMax);
}

/** The stable part, then the note of memories, then what the prompt recalls. */
async function complete(
  search: Pick<SearchService, "findMessages">,
  ref: ConversationRef,
  stable: StableView,
  budget: number,
  { fresh, freshTrace = [], prompt, begin, timeZone }: AssembleOptions,
): Promise<Pick<ContextView, "messages" | "trace">> {
  const messages: Message[] = [
    ...stable.items.map(({ text }) => userMessage(text)),
    ...stable.raw.flatMap((one) => (typeof one === "string" ? [userMessage(one)] : shownMessages(one))),
  ];
  const trace = [...stable.trace];
  let left = budget - countMessages(messages);
  if (fresh && estimateMessageTokens({ content: fresh.text }) <= left) {
    const note = userMessage(fresh.text);
    messages.push(note);
    left -= estimateMessageTokens(note);
    trace.push(...freshTrace);
  } else trace.push(...freshTrace.map((item) => (item.in ? { ...item, in: false, why: "over the budget" } : item)));
  // When the whole conversation is in view, there is nothing to recall.
  if (prompt === undefined || stable.isAll) return { messages, trace };
  const inView = new Set(stable.raw.flatMap((one) => (typeof one === "string" || one.isCut ? [] : [one.seq])));
  const isWindow = budget >= windowBudget;
  const free = isWindow ? left - Math.ceil(budget * growthShare) : left - 8;
  const recalled = await recallBlock(search, ref, {
    prompt,
    tokens: Math.min(free, recallTokensMax),
    isSelective: isWindow,
    inView,
    boundarySeq: begin?.seq,
    timeZone,
  });
  if (recalled) {
    messages.push(recalled.message);
    trace.push(...recalled.trace);
  }
  return { messages, trace };
}

function shownMessages({ message, notes }: ShownMessage): Message[] {
  return [message, ...notes.map(({ text }) => userMessage(text))];
}

function userMessage(content: string): Message {
  return { role: "user", content };
}

function countMessages(messages: readonly Message[]): number {
  return messages.reduce((sum, message) => sum + estimateMessageTokens(message), 0);
}

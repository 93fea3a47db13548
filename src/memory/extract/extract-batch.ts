import type { AdmissionPreset } from "../admission.ts";
import { type AppliedDecision, applyDecision, type Place } from "../decisions.ts";
import type { Trust } from "../memory.ts";
import type { MemoryContext } from "../memory-context.ts";
import { parseRecallBlock } from "../recall/block.ts";
import { insertReview } from "../review.ts";
import { type Budget, readBudgetLeft, recordUsage } from "../spend.ts";
import { storeTentative } from "../tentative.ts";
import { type ExtractionPolicy, type GatheredCandidates, gatherCandidates } from "./gather-candidates.ts";
import { type ReconciledCandidate, reconcile } from "./reconcile.ts";
import { asksToRemember } from "./rules.ts";
import { type ConversationRef, moveCursor, readUnreadBatch, type UnreadBatch } from "./unread.ts";
import { listUtterances, usesTools } from "./utterances.ts";

export interface ExtractOptions {
  ref: ConversationRef;
  scope: string;
  policy: ExtractionPolicy;
  everyMessages: number;
  /** The trust of user messages: in group chats not every user is the owner. */
  userTrust?: Trust;
  /** Extract from all unread messages, even from few. */
  all: boolean;
  /** Read a conversation that was never read as imported history. */
  asBacklog?: boolean;
  /** How imported history is read: by the built-in rules, with the model within a budget of its own, or not at all. */
  backlog: { by: "rules" | "model" | "off"; callsPerDay: number };
  admission?: AdmissionPreset;
  budget: Budget;
  signal?: AbortSignal;
}

export interface Extraction {
  /** `nothing`: too few messages. `waiting`: the budget is used up. `lost`: another worker processed the batch. */
  status: "nothing" | "done" | "waiting" | "lost";
  /** When the budget allows model calls again. */
  againAt?: number;
  because?: string;
  /** Whether more unread messages remain. */
  more: boolean;
  messages: number;
  applied: AppliedDecision[];
  held: number;
  rejected: number;
  dropped: GatheredCandidates["dropped"];
  notes: string[];
}

const nothing: Extraction = {
  status: "nothing",
  more: false,
  messages: 0,
  applied: [],
  held: 0,
  rejected: 0,
  dropped: { ungrounded: 0, duplicates: 0, echoes: 0, malformed: 0, policy: 0, secrets: 0 },
  notes: [],
};

/**
 * Extracts memories from the next batch of a conversation. Models are called first; then all results are written with
 * the cursor in one transaction, so that an interrupted batch is processed again from its start.
 */
export async function extractBatch(given: MemoryContext, options: ExtractOptions): Promise<Extraction> {
  const { ref, scope, policy, signal } = options;
  const unread = await readUnreadBatch(given.store, ref, { asBacklog: options.asBacklog });
  if (unread.entries.length === 0 || (unread.isBacklog && options.backlog.by === "off")) return nothing;
  const { context, budget } = chooseExtractor(given, unread.isBacklog, options);
  const messages = unread.entries.filter((entry) => entry.type === "message").length;
  const utterances = listUtterances(unread.entries, ref.agent, options.userTrust);
  const isDue = options.all || unread.more || messages >= options.everyMessages || asksToRemember(utterances);
  if (!isDue) return { ...nothing, messages };
  const result: Extraction = { ...nothing, status: "done", more: unread.more, messages };
  let items: ReconciledCandidate[] = [];
  if (policy !== "none" && utterances.length > 0) {
    const now = context.store.clock.now();
    const left = context.generate ? await readBudgetLeft(context.store, ref.agent, budget, now) : { calls: 0 };
    if ("at" in left) return { ...nothing, status: "waiting", againAt: left.at, because: left.because, messages };
    const used = { calls: 0, tokens: 0 };
    try {
      const recalled = await readRecalledTexts(context, ref);
      const gathered = await gatherCandidates(context, utterances, {
        policy,
        recalled,
        isChat: !usesTools(unread.entries),
        userTrust: options.userTrust,
        signal,
      });
      used.calls += gathered.calls;
      used.tokens += gathered.tokens;
      const callsMax = left.calls - gathered.calls;
      const admission = options.admission;
      const reconciled = await reconcile(context, gathered.candidates, {
        scope,
        utterances,
        admission,
        callsMax,
        signal,
      });
      used.calls += reconciled.calls;
      used.tokens += reconciled.tokens;
      items = reconciled.items;
      result.dropped = gathered.dropped;
      result.notes = [...gathered.notes, ...reconciled.notes];
    } catch (error) {
      // A failed call counts towards the budget.
      if (context.generate) used.calls += 1;
      throw error;
    } finally {
      await recordUsage(context.store, ref.agent, { ...used, backlogCalls: unread.isBacklog ? used.calls : 0 }, now);
    }
  }
  signal?.throwIfAborted();
  const written = await writeBatch(context, items, unread, options);
  if (!written) return { ...nothing, status: "lost", messages };
  return { ...result, ...written };
}

/** The model reads imported history only when the settings say so, within a daily limit. */
function chooseExtractor(
  given: MemoryContext,
  isBacklog: boolean,
  { budget, backlog }: ExtractOptions,
): { context: MemoryContext; budget: Budget } {
  if (!isBacklog) return { context: given, budget };
  const { generate, ...byRules } = given;
  const context = backlog.by === "model" && generate ? { ...byRules, generate } : byRules;
  return { context, budget: { ...budget, backlogCallsPerDay: backlog.callsPerDay } };
}

async function writeBatch(
  context: MemoryContext,
  items: readonly ReconciledCandidate[],
  unread: Pick<UnreadBatch, "from" | "to">,
  { ref, scope }: ExtractOptions,
): Promise<Pick<Extraction, "applied" | "held" | "rejected"> | undefined> {
  const place: Place = { agent: ref.agent, scope };
  if (items.length === 0) {
    const [moved] = await context.store.writeBatch([
      moveCursor(context.store.db, ref, unread, context.store.clock.now()),
    ]);
    return moved.rows.length === 0 ? undefined : { applied: [], held: 0, rejected: 0 };
  }
  return context.store.transaction(async (tx) => {
    const moved = await moveCursor(tx.db, ref, unread, context.store.clock.now()).executeTakeFirst();
    if (!moved) return undefined;
    await tx.lock(`memories ${scope}`);
    const applied: AppliedDecision[] = [];
    const byIndex: (string | undefined)[] = [];
    let [held, rejected] = [0, 0];
    for (const item of items) {
      if (item.outcome === "write") {
        const earlier = item.earlier === undefined ? undefined : byIndex[item.earlier];
        const decision = earlier === undefined ? item.decision : { ...item.decision, match: earlier };
        const done = await applyDecision(tx, item.candidate, decision, place);
        applied.push(done);
        byIndex.push(done.memory ?? done.match);
        continue;
      }
      byIndex.push(undefined);
      const { candidate, admission } = item;
      if (item.outcome === "hold") {
        const { conflicts } = item;
        await storeTentative(tx, candidate, { admission, conflicts, days: context.settings.tentativeDays }, place);
        held += 1;
      } else {
        await insertReview(tx, { state: "refused", draft: candidate.draft, admission }, place);
        rejected += 1;
      }
    }
    return { applied, held, rejected };
  });
}

const recallsRead = 50;

/** The texts that were recently recalled into this conversation. */
async function readRecalledTexts({ store }: MemoryContext, ref: ConversationRef): Promise<string[]> {
  const rows = await store.db
    .selectFrom("memory_recalls")
    .select(["memories", "block"])
    .where("agent", "=", ref.agent)
    .where("conversation", "=", ref.conversation)
    .orderBy("seq", "desc")
    .limit(recallsRead)
    .execute();
  const ids = [...new Set(rows.flatMap((row) => JSON.parse(row.memories) as string[]))];
  if (ids.length === 0) return [];
  const found = await store.db.selectFrom("memories").select(["abstract", "content"]).where("id", "in", ids).execute();
  // The text of notes exists only in the recorded block.
  const texts = new Set(rows.flatMap((row) => parseRecallBlock(row.block)));
  return [...found.flatMap((row) => [row.abstract, row.content]), ...texts];
}

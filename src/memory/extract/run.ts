import type { AdmissionPreset } from "../admission.ts";
import { type Applied, applyDecision, type Place } from "../decisions.ts";
import type { Trust } from "../memory.ts";
import type { MemoryContext } from "../memory-context.ts";
import { parseRecallBlock } from "../recall/block.ts";
import { holdForReview } from "../review.ts";
import { type Budget, budgetLeft, spend } from "../spend.ts";
import { type ExtractionPolicy, type Gathered, gather } from "./candidates.ts";
import { type Reconciled, reconcile } from "./reconcile.ts";
import { asksToRemember } from "./rules.ts";
import { type ConversationRef, cursorMove, readUnseen } from "./unseen.ts";
import { extractUtterance } from "./utterances.ts";

export interface ExtractOptions {
  ref: ConversationRef;
  scope: string;
  policy: ExtractionPolicy;
  everyMessages: number;
  /** What the word of whoever speaks as the user is worth: among several people, not everybody is the owner. */
  userTrust?: Trust;
  /** Whatever is unseen is read, however little it is. */
  all: boolean;
  admission?: AdmissionPreset;
  budget: Budget;
  signal?: AbortSignal;
}

export interface Extraction {
  /** `nothing`: too little was said yet. `waiting`: the budget is used up. `lost`: another worker was faster. */
  status: "nothing" | "done" | "waiting" | "lost";
  /** When a model may be asked again. */
  againAt?: number;
  because?: string;
  /** Whether there is more to read. */
  more: boolean;
  messages: number;
  applied: Applied[];
  held: number;
  rejected: number;
  dropped: Gathered["dropped"];
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
 * Reads the next stretch of a conversation for memories. Models and vectors are asked first; then everything of the
 * batch, with how far it was read, is written in one transaction: a batch that is cut off is read again from its start.
 */
export async function extractBatch(context: MemoryContext, options: ExtractOptions): Promise<Extraction> {
  const { ref, scope, policy, budget, signal } = options;
  const unseen = await readUnseen(context.store, ref);
  if (unseen.entries.length === 0) return nothing;
  const messages = unseen.entries.filter((entry) => entry.type === "message").length;
  const spoken = unseen.entries.flatMap((entry) => extractUtterance(entry, ref.agent) ?? []);
  const isDue = options.all || unseen.more || messages >= options.everyMessages || asksToRemember(spoken);
  if (!isDue) return { ...nothing, messages };
  const result: Extraction = { ...nothing, status: "done", more: unseen.more, messages };
  let items: Reconciled[] = [];
  if (policy !== "none" && spoken.length > 0) {
    const now = context.store.clock.now();
    const left = context.generate ? await budgetLeft(context.store, ref.agent, budget, now) : { calls: 0 };
    if ("at" in left) return { ...nothing, status: "waiting", againAt: left.at, because: left.because, messages };
    const used = { calls: 0, tokens: 0 };
    try {
      const recalled = await recalledIn(context, ref);
      const gathered = await gather(context, spoken, { policy, recalled, userTrust: options.userTrust, signal });
      used.calls += gathered.calls;
      used.tokens += gathered.tokens;
      const callsMax = left.calls - gathered.calls;
      const admission = options.admission;
      const reconciled = await reconcile(context, gathered.candidates, { scope, spoken, admission, callsMax, signal });
      used.calls += reconciled.calls;
      used.tokens += reconciled.tokens;
      items = reconciled.items;
      result.dropped = gathered.dropped;
      result.notes = [...gathered.notes, ...reconciled.notes];
    } catch (error) {
      // A call that failed was a call.
      if (context.generate) used.calls += 1;
      throw error;
    } finally {
      await spend(context.store, ref.agent, used, now);
    }
  }
  signal?.throwIfAborted();
  const written = await write(context, items, unseen, options);
  if (!written) return { ...nothing, status: "lost", messages };
  return { ...result, ...written };
}

async function write(
  context: MemoryContext,
  items: readonly Reconciled[],
  unseen: { from: number; to: number },
  { ref, scope }: ExtractOptions,
): Promise<Pick<Extraction, "applied" | "held" | "rejected"> | undefined> {
  const place: Place = { agent: ref.agent, scope };
  if (items.length === 0) {
    const [moved] = await context.store.writeBatch([
      cursorMove(context.store.db, ref, unseen, context.store.clock.now()),
    ]);
    return moved.rows.length === 0 ? undefined : { applied: [], held: 0, rejected: 0 };
  }
  return context.store.transaction(async (tx) => {
    const moved = await cursorMove(tx.db, ref, unseen, context.store.clock.now()).executeTakeFirst();
    if (!moved) return undefined;
    await tx.lock(`memories ${scope}`);
    const applied: Applied[] = [];
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
      if (item.outcome === "hold") {
        await holdForReview(tx, item.candidate.draft, item.admission, place);
        held += 1;
      } else rejected += 1;
    }
    return { applied, held, rejected };
  });
}

const recallsRead = 50;

/** What was put before the model in this conversation lately. */
async function recalledIn({ store }: MemoryContext, ref: ConversationRef): Promise<string[]> {
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
  // What a note says stands in the block alone.
  const said = new Set(rows.flatMap((row) => parseRecallBlock(row.block)));
  return [...found.flatMap((row) => [row.abstract, row.content]), ...said];
}

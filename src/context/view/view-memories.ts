import type { Principal } from "../../authorization/index.ts";
import type { Config } from "../../config/index.ts";
import { getToolCalls } from "../../domain/index.ts";
import {
  findTurnStart,
  formatNoteId,
  isSamePrompt,
  type MemoryIndex,
  type MemoryService,
  type RecordedRecall,
  readRecallsSince,
  recordRecall,
  renderRecallBlock,
  wantsRecall,
} from "../../memory/index.ts";
import type { Session } from "../../session/index.ts";
import type { Store } from "../../store/index.ts";
import type { TraceItem } from "../items.ts";
import type { ViewSnapshot } from "./view-snapshot.ts";
import type { AssembleOptions, Note } from "./view-types.ts";

/** The memories of a view, and how to record that they were shown. */
export interface ViewMemories extends Pick<AssembleOptions, "notes" | "fresh" | "freshTrace"> {
  record?: () => Promise<void>;
}

interface ViewMemoriesOptions {
  store: Store;
  config: Config;
  memory: MemoryService & MemoryIndex;
}

interface ViewRecallRequest {
  prompt?: string;
  budgetTokens: number;
  /** Who acts in the session. */
  principal: Principal;
  /** The reader may see only some memory scopes: it gets no notes of earlier turns, and nothing is recorded for it. */
  isLimited: boolean;
}

type RecallRequest = Omit<ViewRecallRequest, "isLimited"> & { prompt: string; shown: ReadonlySet<string> };

/** The largest share of a budget that memories take. */
const budgetShare = 0.2;

/**
 * Recalls memories for a view. A recalled block stays after the message it was recalled at in all later views, so that
 * the prefix of the prompt does not change; its memories are not recalled again for some turns.
 */
export async function recallForView(
  { store, config, memory }: ViewMemoriesOptions,
  session: Session,
  request: ViewRecallRequest,
  known: { snapshot: ViewSnapshot; recorded: readonly RecordedRecall[] },
): Promise<ViewMemories> {
  if (!config.memory.recall) return {};
  const { path, state, tail } = known.snapshot;
  const covered = state?.covered_seq ?? 0;
  const readSince = async (from: number): Promise<readonly RecordedRecall[]> =>
    from > covered || covered === 0
      ? known.recorded.filter((one) => one.seq >= from)
      : readRecallsSince(store, session, from);
  const notes = async (from: number): Promise<ReadonlyMap<number, Note>> =>
    new Map((await readSince(from)).map(({ seq, block, tokens }) => [seq, { text: block, tokens }]));
  const { prompt } = request;
  if (request.isLimited) return awaitsResults(tail) ? {} : recallLimited(memory, config, session, request);
  if (prompt === undefined || !wantsRecall(prompt)) return { notes };
  const headSeq = path.at(-1)?.upTo ?? 0;
  const turnStart = (turns: number) => findStartOfTurns(store, session, known.snapshot, turns);
  const recent = await readSince(await turnStart(config.memory.recallRepeatTurns));
  const [last] = recent;
  // The same prompt of the same turn has its memories already.
  if (last && isSamePrompt(last, prompt) && last.seq >= (await turnStart(2))) return { notes };
  if (awaitsResults(tail)) return { notes };
  const shown = new Set(recent.filter((one) => one.seq !== headSeq).flatMap((one) => one.memories));
  const { block, trace } = await recallBlock(memory, config, session, { ...request, prompt, shown });
  const others = async (from: number) => new Map([...(await notes(from))].filter(([seq]) => seq !== headSeq));
  if (!block) return { notes: others, freshTrace: trace };
  const { text, tokens } = block;
  const record = async () => {
    const { agent, conversation } = session;
    const time = store.clock.now();
    const memories = block.shown.map((one) => one.id);
    await recordRecall(store, { agent, conversation, seq: headSeq, time, prompt, block: text, tokens, memories });
    // Being brought up unasked is no use: it would keep bringing up the same memories.
  };
  return { notes: others, fresh: { text, tokens }, freshTrace: trace, record };
}

/** The memories for a reader of some scopes only. */
async function recallLimited(
  memory: MemoryService,
  config: Config,
  session: Session,
  { prompt, ...request }: ViewRecallRequest,
): Promise<ViewMemories> {
  if (prompt === undefined || !wantsRecall(prompt)) return {};
  const { block, trace } = await recallBlock(memory, config, session, { ...request, prompt, shown: new Set() });
  return { freshTrace: trace, ...(block ? { fresh: { text: block.text, tokens: block.tokens } } : {}) };
}

async function recallBlock(
  memory: MemoryService,
  { memory: settings }: Config,
  session: Session,
  { prompt, budgetTokens, shown, principal }: RecallRequest,
) {
  const recalled = await memory.recallForPrompt({
    principal,
    agent: session.agent,
    prompt,
    memoriesMax: settings.recallMaxItems,
    passagesMax: settings.recallNotesMaxItems,
    kinds: ["chunk"],
    shown,
  });
  const block = renderRecallBlock({
    hits: recalled.memories,
    hitTokens: settings.recallMaxTokens,
    notes: recalled.passages,
    noteTokens: settings.recallNotesMaxTokens,
    tokens: Math.floor(budgetTokens * budgetShare),
  });
  const repeated = (kind: "memory" | "note", id: string): TraceItem => ({
    kind,
    id,
    tokens: 0,
    in: false,
    why: "shown a few turns ago",
  });
  const trace: TraceItem[] = [
    ...(block?.shown ?? []).map((one) => ({ ...one, in: true, why: "fits the prompt" })),
    ...(block?.leftOut ?? []).map((one) => ({ ...one, tokens: 0, in: false, why: "over the budget of memories" })),
    ...recalled.repeated.memories.map((hit) => repeated("memory", hit.memory.id)),
    ...recalled.repeated.passages.map((note) => repeated("note", formatNoteId(note))),
  ];
  return { block, trace };
}

/** The first entry of the last `turns` turns, from the snapshot where that is enough. */
async function findStartOfTurns(
  store: Store,
  { agent, conversation }: Session,
  { path, tail }: ViewSnapshot,
  turns: number,
): Promise<number> {
  const requests = tail.entries.filter((entry) => entry.type === "message" && entry.message.role === "user");
  const isWhole = path.length === 1 && (tail.before === undefined || requests.length >= turns);
  if (isWhole && turns >= 1) return requests.at(-turns)?.seq ?? 0;
  return findTurnStart(store, { agent, conversation, branch: path.at(-1)?.branch ?? 0 }, turns);
}

/** Nothing may come between a tool call and its result. */
function awaitsResults({ entries }: ViewSnapshot["tail"]): boolean {
  const newest = entries.at(-1);
  return newest?.type === "message" && getToolCalls(newest.message).length > 0;
}

import type { AssembleOptions, Note, TraceItem, ViewSnapshot } from "../context/index.ts";
import { getToolCalls } from "../domain/index.ts";
import {
  type Block,
  findMemories,
  findTurnStart,
  isSamePrompt,
  noteId,
  type RecalledNote,
  type RecordedRecall,
  readRecallsSince,
  recallQuery,
  recordRecall,
  renderRecallBlock,
  wantsRecall,
} from "../memory/index.ts";
import type { Session } from "../session/index.ts";
import type { EngineHost } from "./host.ts";
import { memoryHost, readerOf } from "./memory-settings.ts";

/** What memories have to do with a view, and how to write down that they were shown. */
export interface Beside extends Pick<AssembleOptions, "notes" | "fresh" | "freshTrace"> {
  record?: () => Promise<void>;
}

/** The least a memory must fit a prompt to come along unasked: no prompt about nothing that is kept reaches it. */
const relevanceLeast = 0.3;
/** The largest share of a budget that memories take. */
const budgetShare = 0.2;

/**
 * Memories for a view. What a prompt brings up stands behind the newest message and stays there in the views to come, so
 * that their beginnings are the same; it is not brought up again for some turns.
 */
export async function memoriesBeside(
  host: EngineHost,
  session: Session,
  request: { prompt?: string; budgetTokens: number },
  known: { opening: ViewSnapshot; recorded: readonly RecordedRecall[] },
): Promise<Beside> {
  const { store } = host;
  const { memory } = host.loaded.config;
  if (!memory.recall) return {};
  const { path, state, tail } = known.opening;
  const covered = state?.covered_seq ?? 0;
  const since = async (from: number): Promise<readonly RecordedRecall[]> =>
    from > covered || covered === 0
      ? known.recorded.filter((one) => one.seq >= from)
      : readRecallsSince(store, session, from);
  const notes = async (from: number): Promise<ReadonlyMap<number, Note>> =>
    new Map((await since(from)).map(({ seq, block, tokens }) => [seq, { text: block, tokens }]));
  const { prompt } = request;
  if (prompt === undefined || !wantsRecall(prompt)) return { notes };
  const head = path.at(-1);
  const at = { branch: head?.branch ?? 0, seq: head?.upTo ?? 0 };
  const ago = (turns: number) => beginOfTurns(host, session, known.opening, turns);
  const lately = await since(await ago(memory.recallRepeatTurns));
  const [last] = lately;
  // The same prompt of the same turn has its memories already.
  if (last && isSamePrompt(last, prompt) && last.seq >= (await ago(2))) return { notes };
  if (awaitsResults(tail)) return { notes };
  const before = lately.filter((one) => one.seq !== at.seq);
  const { block, trace } = await freshBlock(host, session, { ...request, prompt, before });
  const others = async (from: number) => new Map([...(await notes(from))].filter(([seq]) => seq !== at.seq));
  if (!block) return { notes: others, freshTrace: trace };
  const { text, tokens } = block;
  const memories = block.shown.map((one) => one.id);
  const record = async () => {
    const { agent, conversation } = session;
    const time = host.clock.now();
    await recordRecall(store, { agent, conversation, seq: at.seq, time, prompt, block: text, tokens, memories });
    host.accesses.note(block.shown.flatMap(({ kind, id }) => (kind === "memory" ? [id] : [])));
  };
  return { notes: others, fresh: { text, tokens }, freshTrace: trace, record };
}

async function freshBlock(
  host: EngineHost,
  session: Session,
  { prompt, budgetTokens, before }: { prompt: string; budgetTokens: number; before: readonly RecordedRecall[] },
): Promise<{ block?: Block; trace: TraceItem[] }> {
  const { memory } = host.loaded.config;
  const shown = new Set(before.flatMap((one) => one.memories));
  const reader = readerOf(host.loaded.config, { agent: session.agent });
  const limit = memory.recallMaxItems + shown.size;
  const query = recallQuery(prompt);
  const found = await findMemories({ ...memoryHost(host), now: host.clock.now() }, reader, { query, limit });
  const fitting = found.hits.filter((hit) => hit.relevance >= relevanceLeast);
  const hits = fitting.filter((hit) => !shown.has(hit.memory.id)).slice(0, memory.recallMaxItems);
  const notes = await host.notes({ agent: session.agent, prompt: query, limit: memory.recallNotesMaxItems });
  const isNew = (note: RecalledNote) => !shown.has(noteId(note));
  const block = renderRecallBlock({
    hits,
    hitTokens: memory.recallMaxTokens,
    notes: notes.filter(isNew),
    noteTokens: memory.recallNotesMaxTokens,
    tokens: Math.floor(budgetTokens * budgetShare),
  });
  const trace: TraceItem[] = [
    ...(block?.shown ?? []).map((one) => ({ ...one, in: true, why: "fits the prompt" })),
    ...(block?.leftOut ?? []).map((one) => ({ ...one, tokens: 0, in: false, why: "over the budget of memories" })),
    ...fitting.filter((hit) => shown.has(hit.memory.id)).map((hit) => repeated("memory", hit.memory.id)),
    ...notes.filter((note) => !isNew(note)).map((note) => repeated("note", noteId(note))),
  ];
  return { ...(block ? { block } : {}), trace };
}

function repeated(kind: "memory" | "note", id: string): TraceItem {
  return { kind, id, tokens: 0, in: false, why: "shown a few turns ago" };
}

/** The entry that the last so many turns begin with, from what was read where that is enough. */
async function beginOfTurns(
  { store }: EngineHost,
  { agent, conversation }: Session,
  { path, tail }: ViewSnapshot,
  turns: number,
): Promise<number> {
  const asked = tail.entries.filter((entry) => entry.type === "message" && entry.message.role === "user");
  const isWhole = path.length === 1 && (tail.before === undefined || asked.length >= turns);
  if (isWhole && turns >= 1) return asked.at(-turns)?.seq ?? 0;
  return findTurnStart(store, { agent, conversation, branch: path.at(-1)?.branch ?? 0 }, turns);
}

/** Nothing may stand between a call of a tool and its result. */
function awaitsResults({ entries }: ViewSnapshot["tail"]): boolean {
  const newest = entries.at(-1);
  return newest?.type === "message" && getToolCalls(newest.message).length > 0;
}

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Entry, openVarve, parseSessionKey, type Session, type Varve } from "../../index.ts";
import { round } from "../result.ts";
import { listMessages, takeNewestWindow } from "./baselines.ts";
import { listMatchedItems, type MatchedItem } from "./match-items.ts";
import { assemblePrevious } from "./previous-summariser.ts";
import { readViewText, type ViewText } from "./view-text.ts";
import { readWorkItems, type WorkKind, workKinds } from "./work-items.ts";

/** The share of a kind's items in view: in this version's view, in a plain window, with the previous summariser. */
export interface KindShares {
  view: number;
  window: number;
  previous: number;
  count: number;
  /** The items of transcripts that are larger than the budget; the others are in view anyway. */
  atRisk: number;
}

export interface WorkBudget {
  /** The tokens of the view as a share of the budget, averaged over the transcripts that are larger than it. */
  usedShare: number;
  kinds: Partial<Record<WorkKind, KindShares>>;
  /** The items that this version's view does not contain. */
  missing: MissingItem[];
}

export interface MissingItem {
  transcript: string;
  kind: WorkKind;
  item: string;
}

export interface WorkBench {
  transcripts: number;
  /** Transcripts that are larger than each budget, so that something must be left out. */
  compacted: Record<string, number>;
  items: Partial<Record<WorkKind, number>>;
  budgets: Record<string, WorkBudget>;
  /** Files that no importer recognised, and sub-agents with too few messages. */
  skipped: string[];
}

export interface WorkBenchOptions {
  paths: string[];
  budgets: readonly number[];
  onProgress(name: string, done: number, total: number): void;
}

const subagentMessagesMin = 10;
const sessionsAtOnce = 1000;

/** Imports transcripts, derives by machine what must survive, and measures how much of it is in view at each budget. */
export async function benchWork(options: WorkBenchOptions): Promise<WorkBench> {
  const home = mkdtempSync(join(tmpdir(), "varve-bench-work-"));
  const varve = await openVarve({ home, background: false });
  try {
    const report = await varve.import(options.paths, {});
    const { transcripts, skipped } = await listTranscripts(varve);
    const tally = new Tally(options.budgets);
    for (const [at, transcript] of transcripts.entries()) {
      await measureTranscript(varve, transcript, tally);
      options.onProgress("work", at + 1, transcripts.length);
    }
    return { ...tally.result(transcripts.length), skipped: [...report.skipped, ...skipped] };
  } finally {
    await varve.close();
    rmSync(home, { recursive: true, force: true });
  }
}

interface Transcript {
  session: Session;
  entries: Entry[];
}

async function listTranscripts(varve: Varve): Promise<{ transcripts: Transcript[]; skipped: string[] }> {
  const transcripts: Transcript[] = [];
  const skipped: string[] = [];
  let after: string | undefined;
  do {
    const page = await varve.sessions.list({
      limit: sessionsAtOnce,
      all: true,
      ...(after === undefined ? {} : { after }),
    });
    for (const session of page.sessions) {
      const entries: Entry[] = [];
      for await (const read of varve.transcripts.walk(session)) entries.push(...read);
      const messages = listMessages(entries).length;
      const isShort = parseSessionKey(session.key).kind === "subagent" && messages < subagentMessagesMin;
      if (isShort || messages === 0) skipped.push(session.sessionId);
      else transcripts.push({ session, entries });
    }
    after = page.next;
  } while (after !== undefined);
  return { transcripts, skipped };
}

/** Every budget gets a fork with its own summaries. */
async function measureTranscript(varve: Varve, { session, entries }: Transcript, tally: Tally): Promise<void> {
  const items = listMatchedItems(readWorkItems(entries));
  tally.count(items);
  const tokens = listMessages(entries).reduce((sum, entry) => sum + entry.tokens, 0);
  for (const budget of tally.budgets) {
    const key = `agent:${session.agent}:subagent:${session.conversation}-at-${budget}`;
    const fork = (await varve.sessions.fork(session, { key, maxTokens: Number.MAX_SAFE_INTEGER })).session;
    await varve.context.compact(fork, { budgetTokens: budget });
    const view = await varve.context.assemble(fork, { budgetTokens: budget });
    tally.add(budget, {
      transcript: session.sessionId,
      items,
      usedShare: view.estimatedTokens / budget,
      isCompacted: tokens > budget,
      view: readViewText(view.messages, view.systemPromptAddition),
      window: readViewText(takeNewestWindow(entries, budget).messages),
      previous: readViewText(assemblePrevious(entries, budget).messages),
    });
  }
}

interface Measured {
  transcript: string;
  items: Record<WorkKind, MatchedItem[]>;
  usedShare: number;
  isCompacted: boolean;
  view: ViewText;
  window: ViewText;
  previous: ViewText;
}

interface BudgetSums {
  usedShare: number;
  compacted: number;
  kinds: Map<WorkKind, { view: number; window: number; previous: number; atRisk: number }>;
  missing: MissingItem[];
}

/** Sums over transcripts: every item counts the same, in whatever transcript it is. */
class Tally {
  readonly budgets: readonly number[];
  readonly #items = new Map<WorkKind, number>();
  readonly #sums = new Map<number, BudgetSums>();

  constructor(budgets: readonly number[]) {
    this.budgets = budgets;
    for (const budget of budgets) this.#sums.set(budget, { usedShare: 0, compacted: 0, kinds: new Map(), missing: [] });
  }

  count(items: Record<WorkKind, MatchedItem[]>): void {
    for (const kind of workKinds) this.#items.set(kind, (this.#items.get(kind) ?? 0) + items[kind].length);
  }

  add(budget: number, measured: Measured): void {
    const sums = this.#sums.get(budget);
    if (sums === undefined) return;
    if (measured.isCompacted) {
      sums.usedShare += measured.usedShare;
      sums.compacted += 1;
    }
    for (const kind of workKinds) {
      const sum = sums.kinds.get(kind) ?? { view: 0, window: 0, previous: 0, atRisk: 0 };
      sums.kinds.set(kind, sum);
      if (measured.isCompacted) sum.atRisk += measured.items[kind].length;
      for (const item of measured.items[kind]) {
        if (item.isInView(measured.view)) sum.view += 1;
        else sums.missing.push({ transcript: measured.transcript, kind, item: item.label });
        if (item.isInView(measured.window)) sum.window += 1;
        if (item.isInView(measured.previous)) sum.previous += 1;
      }
    }
  }

  result(transcripts: number): Omit<WorkBench, "skipped"> {
    const sums = [...this.#sums];
    return {
      transcripts,
      compacted: Object.fromEntries(sums.map(([budget, { compacted }]) => [String(budget), compacted])),
      items: Object.fromEntries(this.#items),
      budgets: Object.fromEntries(sums.map(([budget, one]) => [String(budget), this.#figures(one)])),
    };
  }

  #figures({ usedShare, compacted, kinds, missing }: BudgetSums): WorkBudget {
    const shares = [...kinds].flatMap(([kind, { view, window, previous, atRisk }]) => {
      const count = this.#items.get(kind) ?? 0;
      if (count === 0) return [];
      return [
        [
          kind,
          {
            view: round(view / count),
            window: round(window / count),
            previous: round(previous / count),
            count,
            atRisk,
          },
        ],
      ];
    });
    return {
      usedShare: compacted === 0 ? 0 : round(usedShare / compacted),
      kinds: Object.fromEntries(shares),
      missing,
    };
  }
}

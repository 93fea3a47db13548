import { isJsonObject, type JsonObject, type JsonValue } from "../domain/index.ts";
import { estimateTokens, type Session, type SummaryPrefix, type Varve } from "../index.ts";
import type { Place } from "./alignment.ts";
import { findCleanStart, type Link } from "./history.ts";
import type { Format, Unit } from "./wire.ts";

/** The units that replace a reply whose recall calls the client has not seen. */
export interface Insertion {
  units: Unit[];
  /** Results to send together with the client's results for its own calls of the same reply. */
  pending?: Unit;
  tokens: number;
  /** The view that was in use; the next view replaces the insertion too. */
  coveredId: string;
}

/** Replaces the older part of a conversation. It stays byte for byte the same until the conversation no longer fits. */
export interface View {
  /** The number of units that it replaces; `coveredId` is the id of the last of them. */
  from: number;
  coveredId: string;
  summary: string;
  addition?: string;
  /**
   * Replaced units that are sent again because they still apply: system messages, and the last request while the model is
   * working on it.
   */
  restated: readonly number[];
  /** Texts of units before `upTo` are truncated to this many characters. */
  cut?: { characters: number; upTo: number };
  /** The estimated tokens of the summary and the addition. */
  tokens: number;
  /** Those of the summary alone. */
  summaryTokens: number;
}

/** Whether a history starts with the units that the view replaces. */
export function matchesHistory(view: View, links: readonly Link[]): boolean {
  return view.from === 0 || (view.from < links.length && links[view.from - 1]?.id === view.coveredId);
}

/** The history of a request, and the insertions of its replies. */
export interface SentHistory {
  links: readonly Link[];
  units: readonly Unit[];
  insertions: ReadonlyMap<string, Insertion>;
}

/** Returns the units to send: those after the view, with the insertions in place of the replies. */
export function applyView(format: Format, view: View, { links, units: sentUnits, insertions }: SentHistory): Unit[] {
  const units: Unit[] = [];
  const shown = (index: number): Unit => cutUnit(view, sentUnits[index], index);
  for (const index of view.restated) units.push(shown(index));
  let pending: Unit | undefined;
  for (let index = view.from; index < links.length; index += 1) {
    const link = links[index];
    if (!link) continue;
    const insertion = insertions.get(link.id);
    if (pending) {
      units.push(...format.join(pending, shown(index)));
      pending = undefined;
    } else if (insertion && (insertion.pending === undefined || index + 1 < links.length)) {
      units.push(...insertion.units);
      pending = insertion.pending;
    } else units.push(shown(index));
  }
  return units;
}

/** Estimates the tokens of a conversation with a view. */
export function estimateViewTokens(view: View, { links, units, insertions }: SentHistory): number {
  let tokens = view.tokens;
  const size = (link: Link | undefined, index: number): number => {
    if (link === undefined) return 0;
    const fullTokens = insertions.get(link.id)?.tokens ?? link.tokens;
    if (view.cut === undefined || index >= view.cut.upTo) return fullTokens;
    return Math.min(fullTokens, estimateTokens(JSON.stringify(cutUnit(view, units[index], index).wires)));
  };
  for (const index of view.restated) tokens += size(links[index], index);
  for (let index = view.from; index < links.length; index += 1) tokens += size(links[index], index);
  return tokens;
}

export interface ViewBudget {
  /** The maximum size of the conversation in estimated tokens. */
  tokens: number;
  model: string;
  /** `from` of the view that no longer fits. */
  before?: number;
  signal: AbortSignal;
  withTools: boolean;
}

/** A new view may use this share of the budget, so that the next messages fit too. */
const targetShare = 0.7;
const restartShare = 0.85;
/** The budgets of successive compactions, until the view is small enough. */
const budgetShares = [1, 0.6, 0.35] as const;
const budgetTokensMin = 256;
/** The lengths to which texts are truncated as the last resort. */
const cutCharacters = [40_000, 16_000, 6_000, 2_000] as const;
/** The share of the budget that one unit may take; the texts of a larger one are cut to it, so that the rest has room. */
const unitShare = 0.25;
const charactersPerToken = 3;
/** Summaries say more while they and the newer messages stay below this share of the budget. */
const filledShare = 0.85;
const fitShare = 0.97;
/** The share of the budget for restated units. */
const restatedShare = 0.2;

export interface ViewSource {
  varve: Varve;
  session: Session;
  /** Makes the history of the request the active branch. */
  focus(): Promise<void>;
  /** Finds an entry of the transcript in the history of the request. */
  locate(entryId: string): Place;
}

/**
 * Finds a view that fits the budget: with the existing summaries, else after a compaction, else with truncated texts.
 * Undefined when even that does not fit.
 */
export async function findView(
  { varve, session, focus, locate }: ViewSource,
  sent: SentHistory,
  budget: ViewBudget,
): Promise<View | undefined> {
  const { links } = sent;
  // A concurrent request of the same conversation may have moved the end of the active branch.
  const look = async (): Promise<View | undefined> => {
    await focus();
    const coarse = createView(await varve.context.summaryPrefix(session), links, budget, locate);
    const view = coarse && cutLargeUnits(coarse, links, budget);
    if (view === undefined) return undefined;
    // What the newer messages leave is used by more detailed summaries of the same messages.
    const room = Math.floor(budget.tokens * filledShare) - (estimateViewTokens(view, sent) - view.summaryTokens);
    if (room <= view.summaryTokens) return view;
    const prefix = await varve.context.summaryPrefix(session, { budgetTokens: room });
    const detailed = createView(prefix, links, budget, locate);
    return detailed?.from === view.from && detailed.coveredId === view.coveredId
      ? cutLargeUnits(detailed, links, budget)
      : view;
  };
  const fits = (view: View | undefined, share: number): view is View =>
    view !== undefined && estimateViewTokens(view, sent) <= budget.tokens * share;
  let view = await look();
  // After a restart there is no view in memory; reusing the summaries that were sent before keeps the provider's cache.
  if (fits(view, budget.before === undefined ? restartShare : targetShare) && view.from !== budget.before) return view;
  for (const [index, share] of budgetShares.entries()) {
    const budgetTokens = Math.max(budgetTokensMin, Math.floor(budget.tokens * share));
    const request = { budgetTokens, model: budget.model, signal: budget.signal, splitTurns: index > 0 };
    await focus();
    await varve.context.compact(session, request);
    view = await look();
    if (fits(view, targetShare)) return view;
  }
  if (fits(view, fitShare)) return view;
  const base = view ?? bareView;
  for (const characters of cutCharacters) {
    const cut: View = { ...base, cut: { characters, upTo: links.length } };
    if (fits(cut, fitShare)) return cut;
  }
  return undefined;
}

/** Without any summary, for a history of one message that is too long. */
const bareView: View = { from: 0, coveredId: "", summary: "", restated: [], tokens: 0, summaryTokens: 0 };

function createView(
  prefix: SummaryPrefix,
  links: readonly Link[],
  budget: ViewBudget,
  locate: ViewSource["locate"],
): View | undefined {
  if (prefix.coveredId === undefined) return undefined;
  const { id, isLast } = locate(prefix.coveredId);
  const covered = links.findIndex((link) => link.id === id);
  if (covered === -1) return undefined;
  const from = findCleanStart(links, isLast ? covered + 1 : covered);
  const before = links[from - 1];
  if (before === undefined) return undefined;
  const summary = prefix.summaries.map(({ text }) => text).join("\n\n");
  const addition = budget.withTools ? prefix.systemPromptAddition : keepFirstParagraph(prefix.systemPromptAddition);
  return {
    from,
    coveredId: before.id,
    summary,
    ...(addition === undefined ? {} : { addition }),
    restated: selectRestated(links, from, budget.tokens * restatedShare, budget.tokens * unitShare),
    tokens: estimateTokens(summary) + estimateTokens(addition ?? ""),
    summaryTokens: estimateTokens(summary),
  };
}

/** Cuts the texts of units that are larger than their share: one paste must not push everything else out. */
function cutLargeUnits(view: View, links: readonly Link[], budget: ViewBudget): View {
  const most = budget.tokens * unitShare;
  const isLarge = links.some(
    (link, index) => link.tokens > most && (index >= view.from || view.restated.includes(index)),
  );
  return isLarge ? { ...view, cut: { characters: Math.floor(most * charactersPerToken), upTo: links.length } } : view;
}

/** Selects the replaced units that still apply, newest first within the budget; returns them in order. */
function selectRestated(links: readonly Link[], from: number, budgetTokens: number, unitTokens: number): number[] {
  const asked = links.findLastIndex((link) => link.isRequest);
  const selected: number[] = [];
  let left = budgetTokens;
  for (let index = from - 1; index >= 0; index -= 1) {
    const link = links[index];
    if (!link || (index !== asked && !link.isInstruction)) continue;
    // The last request is always restated: a large one is cut.
    const tokens = Math.min(link.tokens, unitTokens);
    if (index !== asked && tokens > left) continue;
    left -= tokens;
    selected.unshift(index);
  }
  return selected;
}

/** Returns the view for a model without recall tools. */
export function removeToolHints({ addition, ...view }: View): View {
  const rest = keepFirstParagraph(addition);
  return { ...view, ...(rest === undefined ? {} : { addition: rest }) };
}

/** The first paragraph explains the summaries; the lines after it are about tools. */
function keepFirstParagraph(addition: string | undefined): string | undefined {
  return addition?.split("\n- ")[0];
}

const textFields = new Set(["text", "content", "output"]);

function cutUnit({ cut }: View, unit: Unit | undefined, index: number): Unit {
  const wires = unit?.wires ?? [];
  if (cut === undefined || index >= cut.upTo) return { wires };
  return { wires: wires.map((wire) => cutValue(wire, cut.characters) as JsonObject) };
}

/** Truncates only text and tool results, never reasoning, signatures, arguments or encoded images. */
function cutValue(value: JsonValue, characters: number, name?: string): JsonValue {
  if (typeof value === "string") return name !== undefined && textFields.has(name) ? cutText(value, characters) : value;
  if (Array.isArray(value)) return value.map((item) => cutValue(item, characters, name));
  if (!isJsonObject(value) || value.type === "tool_use" || value.type === "compaction") return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, cutValue(item, characters, key)]));
}

function cutText(text: string, characters: number): string {
  if (text.length <= characters) return text;
  const half = Math.floor(characters / 2);
  const omitted = text.length - 2 * half;
  const note = `[… ${omitted} characters are left out here so that the conversation fits; the full text is stored and can be found with lcm_grep …]`;
  return `${text.slice(0, half).toWellFormed()}\n${note}\n${text.slice(-half).toWellFormed()}`;
}

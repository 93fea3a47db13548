import { isJsonObject, type JsonObject, type JsonValue } from "../domain/index.ts";
import { estimateTokens, type Session, type SummaryPrefix, type Varve } from "../index.ts";
import { findCleanStart, type Link, parseEntryId } from "./history.ts";
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
const fitShare = 0.97;
/** The share of the budget for restated units. */
const restatedShare = 0.2;

/**
 * Finds a view that fits the budget: with the existing summaries, else after a compaction, else with truncated texts.
 * Undefined when even that does not fit.
 */
export async function findView(
  { varve, session, focus }: { varve: Varve; session: Session; focus: () => Promise<void> },
  sent: SentHistory,
  budget: ViewBudget,
): Promise<View | undefined> {
  const { links } = sent;
  // A concurrent request of the same conversation may have moved the end of the active branch.
  const look = async (): Promise<View | undefined> => {
    await focus();
    return createView(await varve.context.summaryPrefix(session), links, budget);
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
const bareView: View = { from: 0, coveredId: "", summary: "", restated: [], tokens: 0 };

function createView(prefix: SummaryPrefix, links: readonly Link[], budget: ViewBudget): View | undefined {
  if (prefix.coveredId === undefined) return undefined;
  const { id, isLast } = parseEntryId(prefix.coveredId);
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
    restated: selectRestated(links, from, budget.tokens * restatedShare),
    tokens: estimateTokens(summary) + estimateTokens(addition ?? ""),
  };
}

/** Selects the replaced units that still apply, newest first within the budget; returns them in order. */
function selectRestated(links: readonly Link[], from: number, budgetTokens: number): number[] {
  const asked = links.findLastIndex((link) => link.isRequest);
  const selected: number[] = [];
  let left = budgetTokens;
  for (let index = from - 1; index >= 0; index -= 1) {
    const link = links[index];
    if (!link || (index !== asked && !link.isInstruction) || link.tokens > left) continue;
    left -= link.tokens;
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

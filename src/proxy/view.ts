import { isJsonObject, type JsonObject, type JsonValue } from "../domain/index.ts";
import { estimateTokens, type Session, type SummaryPrefix, type Varve } from "../engine.ts";
import { cleanStart, type Link, unitOfEntry } from "./history.ts";
import type { Format, Unit } from "./wire.ts";

/** What is sent in place of a reply that the client knows without the calls that were answered for it. */
export interface Insertion {
  units: Unit[];
  /** Results that belong with those the client sends for its own calls of the same reply. */
  pending?: Unit;
  tokens: number;
  /** The view it took place in: with the next one, it is part of what is replaced. */
  coveredId: string;
}

/** What is sent for the older part of a conversation. It stays as it is until the whole does not fit any more. */
export interface View {
  /** How many units of the history it stands for, and the id of the last of them. */
  from: number;
  coveredId: string;
  summary: string;
  addition?: string;
  /**
   * What is further back than `from` and still holds: instructions between the messages, and a request while what it asked
   * for is going on.
   */
  restated: readonly number[];
  /** Texts of units before `upTo` are shown with no more than so many characters. */
  cut?: { characters: number; upTo: number };
  /** What the summary and the addition take, as estimated. */
  tokens: number;
}

/** Whether a history begins with what the view stands for. */
export function holds(view: View, links: readonly Link[]): boolean {
  return view.from === 0 || (view.from < links.length && links[view.from - 1]?.id === view.coveredId);
}

/** A conversation as a request brings it, and what went on inside of it. */
export interface Spoken {
  links: readonly Link[];
  units: readonly Unit[];
  insertions: ReadonlyMap<string, Insertion>;
}

/** The conversation as it is sent: what the view leaves, with the inner exchanges where they took place. */
export function unitsOf(format: Format, view: View, { links, units: said, insertions }: Spoken): Unit[] {
  const units: Unit[] = [];
  const shown = (index: number): Unit => shownUnit(view, said[index], index);
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

/** What a conversation takes in a view, as estimated. */
export function sizeOf(view: View, { links, units, insertions }: Spoken): number {
  let tokens = view.tokens;
  const size = (link: Link | undefined, index: number): number => {
    if (link === undefined) return 0;
    const tokensOf = insertions.get(link.id)?.tokens ?? link.tokens;
    if (view.cut === undefined || index >= view.cut.upTo) return tokensOf;
    return Math.min(tokensOf, estimateTokens(JSON.stringify(shownUnit(view, units[index], index).wires)));
  };
  for (const index of view.restated) tokens += size(links[index], index);
  for (let index = view.from; index < links.length; index += 1) tokens += size(links[index], index);
  return tokens;
}

export interface Room {
  /** What the conversation may take, as estimated. */
  tokens: number;
  model: string;
  /** What the view that does not fit any more stands for. */
  before?: number;
  signal: AbortSignal;
  withTools: boolean;
}

/** A view is taken when it leaves so much of the room for what comes next. */
const wanted = 0.7;
const safe = 0.85;
/** What compactions aim at, one after the other, until the view is small enough. */
const budgetShares = [1, 0.6, 0.35] as const;
const budgetLeast = 256;
/** How much of each text is shown when nothing else helps. */
const cutCharacters = [40_000, 16_000, 6_000, 2_000] as const;
const fitShare = 0.97;
/** What may be said again of what was replaced. */
const restatedShare = 0.2;

/**
 * Finds a view of a history that fits the room: with the summaries there are, else with those that a compaction makes,
 * else with long texts cut. Undefined when even that does not fit.
 */
export async function findView(
  { varve, session, focus }: { varve: Varve; session: Session; focus: () => Promise<void> },
  spoken: Spoken,
  room: Room,
): Promise<View | undefined> {
  const { links } = spoken;
  // Another request of the same conversation may have moved its end elsewhere in the meantime.
  const look = async (): Promise<View | undefined> => {
    await focus();
    return viewOf(await varve.context.summaryPrefix(session), links, room);
  };
  const fits = (view: View | undefined, share: number): view is View =>
    view !== undefined && sizeOf(view, spoken) <= room.tokens * share;
  let view = await look();
  // After a restart there is no view yet, and the one that was sent before is better than a smaller one.
  if (fits(view, room.before === undefined ? safe : wanted) && view.from !== room.before) return view;
  for (const [index, share] of budgetShares.entries()) {
    const budgetTokens = Math.max(budgetLeast, Math.floor(room.tokens * share));
    const request = { budgetTokens, model: room.model, signal: room.signal, splitTurns: index > 0 };
    await focus();
    await varve.context.compact(session, request);
    view = await look();
    if (fits(view, wanted)) return view;
  }
  if (fits(view, fitShare)) return view;
  const base = view ?? bareView;
  for (const characters of cutCharacters) {
    const cut: View = { ...base, cut: { characters, upTo: links.length } };
    if (fits(cut, fitShare)) return cut;
  }
  return undefined;
}

/** No summary at all: the history may be one message that is too long. */
const bareView: View = { from: 0, coveredId: "", summary: "", restated: [], tokens: 0 };

function viewOf(standing: SummaryPrefix, links: readonly Link[], room: Room): View | undefined {
  if (standing.coveredId === undefined) return undefined;
  const { id, isLast } = unitOfEntry(standing.coveredId);
  const covered = links.findIndex((link) => link.id === id);
  if (covered === -1) return undefined;
  const from = cleanStart(links, isLast ? covered + 1 : covered);
  const before = links[from - 1];
  if (before === undefined) return undefined;
  const summary = standing.summaries.map(({ text }) => text).join("\n\n");
  const addition = room.withTools ? standing.systemPromptAddition : withoutTools(standing.systemPromptAddition);
  return {
    from,
    coveredId: before.id,
    summary,
    ...(addition === undefined ? {} : { addition }),
    restated: restatedBefore(links, from, room.tokens * restatedShare),
    tokens: estimateTokens(summary) + estimateTokens(addition ?? ""),
  };
}

/** What still holds of what was replaced, the newest first, as far as there is room; in its own order. */
function restatedBefore(links: readonly Link[], from: number, roomTokens: number): number[] {
  const asked = links.findLastIndex((link) => link.isRequest);
  const held: number[] = [];
  let left = roomTokens;
  for (let index = from - 1; index >= 0; index -= 1) {
    const link = links[index];
    if (!link || (index !== asked && !link.isInstruction) || link.tokens > left) continue;
    left -= link.tokens;
    held.unshift(index);
  }
  return held;
}

/** The same view for a model that is offered no tools. */
export function viewWithoutTools({ addition, ...view }: View): View {
  const rest = withoutTools(addition);
  return { ...view, ...(rest === undefined ? {} : { addition: rest }) };
}

/** The first paragraph says what the summaries are; the lines behind it are about tools. */
function withoutTools(addition: string | undefined): string | undefined {
  return addition?.split("\n- ")[0];
}

const texts = new Set(["text", "content", "output"]);

function shownUnit({ cut }: View, unit: Unit | undefined, index: number): Unit {
  const wires = unit?.wires ?? [];
  if (cut === undefined || index >= cut.upTo) return { wires };
  return { wires: wires.map((wire) => cutValue(wire, cut.characters) as JsonObject) };
}

/** Only what was said or what a tool returned is cut, never a thought, a signature, an argument or an encoded picture. */
function cutValue(value: JsonValue, characters: number, name?: string): JsonValue {
  if (typeof value === "string") return name !== undefined && texts.has(name) ? cutText(value, characters) : value;
  if (Array.isArray(value)) return value.map((item) => cutValue(item, characters, name));
  if (!isJsonObject(value) || value.type === "tool_use" || value.type === "compaction") return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, cutValue(item, characters, key)]));
}

function cutText(text: string, characters: number): string {
  if (text.length <= characters) return text;
  const half = Math.floor(characters / 2);
  const left = text.length - 2 * half;
  const note = `[… ${left} characters are left out here so that the conversation fits; all of it is kept and can be found with lcm_grep …]`;
  return `${text.slice(0, half).toWellFormed()}\n${note}\n${text.slice(-half).toWellFormed()}`;
}

import { formatStamp, parseLocalTime, type Role, roles } from "../../domain/index.ts";
import { estimateTokens } from "../../text/index.ts";
import { expandPrefix, filesPrefix, noFiles, sourcePrefix, timeWriter, truncatedMarker } from "../summary-text.ts";
import { type Candidate, type Candidates, findCandidates } from "./extractive/candidates.ts";
import { expandLine, filesLine, printLines } from "./extractive/print.ts";
import { splitSentences } from "./extractive/sentences.ts";
import { tableSize } from "./extractive/words.ts";
import type { SummaryTurn } from "./summary-request.ts";

/** The target of the last fallback, for input that no other summary shortens. */
export const emergencyTargetTokens = 512;
/** The smallest target: fewer tokens cannot hold the fixed lines. */
export const extractiveTokensMin = 96;

export interface ExtractiveInput {
  /** Messages for a leaf; summaries for a condensed one, each at the time of its earliest source. */
  turns: readonly SummaryTurn[];
  /** The previous summary: its content is not repeated. */
  previousSummary?: string;
  /** 512 when absent. */
  targetTokens?: number;
  /** The summary is cut to a size, whatever its input holds; it says so. */
  isEmergency?: boolean;
  depth: number;
  /** The tokens that this summary covers; those of the turns when absent. */
  sourceTokens?: number;
  timeZone?: string;
}

/**
 * The built-in summariser: the best sentences in order, with the fixed lines of every summary. It needs no model, is
 * deterministic, and never exceeds the target.
 */
export function extractiveSummary(input: ExtractiveInput): string {
  const target = Math.max(extractiveTokensMin, input.targetTokens ?? emergencyTargetTokens);
  const unfolded = input.depth > 0 ? unfoldSummaries(input.turns, input.timeZone) : undefined;
  const turns = unfolded?.turns ?? input.turns;
  const found = findCandidates(turns, input.previousSummary ?? "");
  const files = filesLine(unfolded === undefined ? turns : [], unfolded?.files ?? [], Math.floor(target * 0.15));
  const marker = markerLine(input, found);
  const expandBudget = Math.floor(target * 0.1);
  const fixed = estimateTokens(`\n${files}\n${marker}\n`) + expandBudget;
  const write = timeWriter(input.timeZone);
  const chosen = selectSentences(found.list, 1.1 * (target - fixed), pinRequest(found.list, turns));
  let body = printLines(chosen, turns, input.depth, write);
  // The cost of lines is approximate while selecting; the last selections are dropped until the result fits.
  while (estimateTokens(body) + fixed > target && chosen.pop() !== undefined) {
    body = printLines(chosen, turns, input.depth, write);
  }
  for (;;) {
    const kept = new Set(chosen);
    const dropped = found.list.filter((one) => !kept.has(one));
    const expand = expandLine(dropped, unfolded?.terms ?? [], body, expandBudget);
    const lines = [body, files, marker, expand].filter((line) => line !== "");
    const summary = lines.join("\n").toWellFormed();
    // The last line may exceed its share by a token or two.
    if (estimateTokens(summary) <= target || chosen.pop() === undefined) return summary;
    body = printLines(chosen, turns, input.depth, write);
  }
}

/** The best sentence of the user's newest request is always included. */
function pinRequest(candidates: readonly Candidate[], turns: readonly SummaryTurn[]): Candidate[] {
  const at = turns.findLastIndex((turn) => turn.role === "user" && turn.text.trim() !== "");
  let best: Candidate | undefined;
  for (const one of candidates) {
    if (one.turn === at && (best === undefined || one.score > best.score)) best = one;
  }
  if (best !== undefined) return [best];
  // A request of common words only has no weight, but it is what the user is waiting for.
  const text = splitSentences(turns[at]?.text ?? "", 1).sentences[0]?.text;
  if (text === undefined) return [];
  const next = candidates.find((one) => one.turn > at);
  const order = (next?.order ?? (candidates.at(-1)?.order ?? 0) + 1) - 0.5;
  const position = next?.position ?? candidates.at(-1)?.position ?? 0;
  const tokens = estimateTokens(text);
  return [{ turn: at, order, position, text, tokens, factor: 1, slots: [], weights: [], score: 0 }];
}

function markerLine(input: ExtractiveInput, found: Candidates): string {
  const tokens = input.sourceTokens ?? input.turns.reduce((sum, turn) => sum + estimateTokens(turn.text), 0);
  const notes = [`${sourcePrefix}${tokens} tokens`];
  if (found.skippedChars > 0) notes.push(`${found.skippedChars} characters not read`);
  if (found.skippedTurns > 0) notes.push(`${found.skippedTurns} turns not read`);
  return `${input.isEmergency === true ? `${truncatedMarker} ` : ""}${notes.join("; ")}.`;
}

/** The tokens of a line in addition to its sentence: the speaker and sometimes the time. */
const lineTokens = 3;
/** The weight of a word that was selected already. */
const residue = 0.2;
/** How strongly the cost of a sentence counts against its value; at 1 only the shortest would win. */
const priceExponent = 0.75;

/**
 * Selects sentences, best first, until the budget is spent: each is valued by the new words it adds, by its cost, and
 * less the more of its section was selected already.
 */
export function selectSentences(candidates: readonly Candidate[], budget: number, pinned: Candidate[]): Candidate[] {
  const selected = new Uint8Array(tableSize);
  const chosen: Candidate[] = [];
  const stretches = Math.max(1, Math.min(24, Math.round(budget / 50)));
  const spent = new Array<number>(stretches).fill(0);
  const end = (candidates.at(-1)?.position ?? 0) + 1;
  const findSection = (one: Candidate) => Math.floor((one.position * stretches) / end);
  let left = budget;
  const take = (one: Candidate) => {
    chosen.push(one);
    left -= one.tokens + lineTokens;
    const stretch = findSection(one);
    spent[stretch] = (spent[stretch] ?? 0) + one.tokens + lineTokens;
    for (const slot of one.slots) selected[slot] = 1;
  };
  for (const one of pinned) if (one.tokens + lineTokens <= left) take(one);
  const share = budget / stretches;
  const computeValue = (one: Candidate) => {
    const crowding = 1 + (spent[findSection(one)] ?? 0) / share;
    return (freshWeight(one, selected) * one.factor) / (one.tokens + lineTokens) ** priceExponent / crowding;
  };
  const pins = new Set(chosen);
  let open = candidates.filter((one) => !pins.has(one)).map((one) => ({ one, worth: computeValue(one) }));
  open.sort((a, b) => b.worth - a.worth || a.one.order - b.one.order);
  for (;;) {
    let best: { one: Candidate; worth: number } | undefined;
    open = open.filter(({ one, worth }) => worth > 0 && one.tokens + lineTokens <= left);
    for (const entry of open) {
      // The value of a sentence only decreases, so an outdated value that is too low need not be recomputed.
      if (best !== undefined && entry.worth <= best.worth) continue;
      entry.worth = computeValue(entry.one);
      if (entry.worth > (best?.worth ?? 0)) best = entry;
    }
    if (best === undefined) return chosen;
    take(best.one);
    best.worth = 0;
  }
}

/** A sentence with mostly selected words is a repetition. */
function freshWeight(one: Candidate, selected: Uint8Array): number {
  let sum = 0;
  let repeated = 0;
  for (let index = 0; index < one.slots.length; index += 1) {
    const isSelected = selected[one.slots[index] ?? 0] === 1;
    if (isSelected) repeated += 1;
    sum += (one.weights[index] ?? 0) * (isSelected ? residue : 1);
  }
  return repeated > 0.8 * one.slots.length ? 0 : sum;
}

export interface Unfolded {
  turns: SummaryTurn[];
  /** The file lines of the summaries, and their truncation markers. */
  files: { path: string; operation?: string }[];
  terms: string[];
}

const stamp = /^\[(\d{4}-\d\d-\d\d)?(?:(?:^|\s|(?<=\[))(\d\d:\d\d)(Z|[+-]\d\d:\d\d)?)?[^\]\n]{0,40}\]\s*/;
const speaker = /^([\p{L}][\p{L}\p{N} .'_-]{0,39}): (?=\S)/u;
const fileEntry = /^(\S+)(?: \(([^()]{1,40})\))?$/;

/** Splits summaries into their lines, each with its time and speaker; their markers are removed. */
export function unfoldSummaries(summaries: readonly SummaryTurn[], timeZone?: string): Unfolded {
  const unfolded: Unfolded = { turns: [], files: [], terms: [] };
  for (const summary of summaries) {
    let time = summary.time;
    for (const raw of summary.text.split("\n")) {
      const line = raw.trim();
      if (line === "" || line === noFiles || line.startsWith(truncatedMarker) || line.startsWith(sourcePrefix))
        continue;
      if (line.startsWith(filesPrefix)) unfolded.files.push(...parseFiles(line.slice(filesPrefix.length)));
      else if (line.startsWith(expandPrefix)) unfolded.terms.push(...line.slice(expandPrefix.length).split(/, ?/));
      else {
        const found = stamp.exec(line);
        time = found === null ? time : parseTime(found, time, timeZone);
        const text = found === null ? line : line.slice(found[0].length);
        const name = speaker.exec(text);
        const content = name === null ? text : text.slice(name[0].length);
        if (content !== "")
          unfolded.turns.push({ time, speaker: name?.[1], role: parseRole(name?.[1]), text: content });
      }
    }
  }
  return unfolded;
}

/** The role of a speaker that the built-in summariser named by its role. */
function parseRole(name: string | undefined): Role | undefined {
  return roles.find((role) => name?.toLowerCase().split(" ", 1)[0] === role);
}

/** The time of a stamp. Older summaries name no zone: their stamps are in the zone of the settings. */
function parseTime([, day, timeOfDay, zone]: RegExpExecArray, last: number, timeZone?: string): number {
  if (day === undefined && timeOfDay === undefined) return last;
  if (timeOfDay === undefined || zone === undefined) {
    return parseLocalTime(day ?? formatStamp(last, timeZone).slice(0, 10), timeOfDay ?? "00:00", timeZone) ?? last;
  }
  const offset = zone === "Z" ? 0 : Number(`${zone[0]}1`) * (Number(zone.slice(1, 3)) * 60 + Number(zone.slice(4)));
  const wall = parseLocalTime(day ?? formatStamp(last + offset * 60_000).slice(0, 10), timeOfDay);
  return wall === undefined ? last : wall - offset * 60_000;
}

function parseFiles(list: string): { path: string; operation?: string }[] {
  return list.split(", ").flatMap((entry) => {
    const found = fileEntry.exec(entry);
    return found?.[1] === undefined ? [] : [{ path: found[1], operation: found[2] }];
  });
}

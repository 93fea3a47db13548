import type { Role } from "../../../domain/index.ts";
import { endsInQuestion, estimateTokens } from "../../../text/index.ts";
import type { SummaryTurn } from "../summary-request.ts";
import { splitSentences } from "./sentences.ts";
import { scanWords, shapes, tableSize } from "./words.ts";

export interface Candidate {
  turn: number;
  /** Its index among all sentences. */
  order: number;
  /** Its position in the input, in sentences weighted by speaker: long tool output counts little. */
  position: number;
  text: string;
  tokens: number;
  /** The weight of its kind of sentence, before its words are counted. */
  factor: number;
  slots: number[];
  weights: number[];
  /** The sum of its weights, times the factor. */
  score: number;
}

export interface Candidates {
  list: Candidate[];
  sentenceCount: number;
  skippedChars: number;
  skippedTurns: number;
}

const sentencesMax = 100_000;
const sentencesPerTurnMax = 2_000;
const candidatesMax = 1_500;

/** The candidate sentences: all are weighed, and the best of every section of the input are kept. */
export function findCandidates(turns: readonly SummaryTurn[], known: string): Candidates {
  const stride = Math.max(1, Math.ceil(turns.length / sentencesMax));
  const perTurn = Math.max(1, Math.min(sentencesPerTurnMax, Math.floor((sentencesMax * stride) / turns.length)));
  const counts = new Uint32Array(tableSize);
  const all: Candidate[] = [];
  let skippedChars = 0;
  let skippedTurns = 0;
  let lastQuestion = -2;
  let position = 0;
  for (const [turn, source] of turns.entries()) {
    if (turn % stride !== 0 && turn !== turns.length - 1) {
      skippedTurns += 1;
      continue;
    }
    const split = splitSentences(source.text, perTurn);
    skippedChars += split.skippedChars;
    let asks = false;
    for (const [index, { text, isCode }] of split.sentences.entries()) {
      const isAnswer = index === 0 && lastQuestion === turn - stride;
      const isQuestion = endsInQuestion(text);
      asks ||= isQuestion;
      const factor =
        roleWeight(source.role) * (isCode ? 0.3 : 1) * (isQuestion ? questionWeight(text) : isAnswer ? 1.25 : 1);
      position += roleWeight(source.role) * (isCode ? 0.3 : 1);
      all.push({ ...readSentence(text, factor, counts), turn, order: all.length, position });
    }
    if (asks) lastQuestion = turn;
  }
  const knownSlots = new Uint8Array(tableSize);
  scanWords(known, (slot) => {
    knownSlots[slot] = 1;
  });
  for (const candidate of all) weigh(candidate, counts, all.length, knownSlots);
  return { list: keepBest(all), sentenceCount: all.length, skippedChars, skippedTurns };
}

function roleWeight(role: Role | undefined): number {
  if (role === "assistant") return 0.45;
  if (role === "tool") return 0.2;
  return role === "system" ? 0.3 : 1;
}

/** A short question carries little information; a long one usually states something first. */
function questionWeight(text: string): number {
  return text.length < 80 ? 0.6 : 0.95;
}

function readSentence(text: string, factor: number, counts: Uint32Array) {
  const slots: number[] = [];
  const weights: number[] = [];
  let found = 0;
  let content = 0;
  scanWords(text, (slot, shape, length) => {
    counts[slot] = (counts[slot] ?? 0) + 1;
    const cue = getCues(slot);
    found |= cue;
    const isNumber = (shape & shapes.digit) !== 0;
    if (isNumber) found |= cues.date;
    if ((cue & (cues.stop | cues.filler)) !== 0 || slots.includes(slot)) return;
    content += 1;
    slots.push(slot);
    weights.push(shapeWeight(shape, length, slots.length === 1));
  });
  const kind = cueFactor(found) * (content < 2 ? 0.6 : 1);
  return { text, tokens: 0, factor: factor * kind, slots, weights, score: 0 };
}

function shapeWeight(shape: number, length: number, isFirst: boolean): number {
  if ((shape & shapes.ideographic) !== 0) return 0.6;
  let weight = length <= 2 ? 0.4 : length <= 4 ? 0.8 : 1;
  if ((shape & shapes.digit) !== 0) weight = 1.2;
  if ((shape & shapes.identifier) !== 0) weight *= 1.4;
  if ((shape & shapes.capital) !== 0 && !isFirst) weight *= 1.4;
  return weight;
}

function cueFactor(found: number): number {
  let factor = 1;
  // Decisions, changes of mind, plans, dates and numbers come before anecdotes.
  if ((found & cues.decision) !== 0) factor += 0.4;
  if ((found & cues.task) !== 0) factor += 0.3;
  if ((found & cues.preference) !== 0) factor += 0.25;
  if ((found & cues.trouble) !== 0) factor += 0.25;
  if ((found & cues.date) !== 0) factor += 0.3;
  if ((found & cues.life) !== 0) factor += 0.2;
  return (found & cues.filler) === 0 ? factor : factor * 0.6;
}

/** Words are weighed by their rarity in the input; those of the previous summary count half. */
function weigh(candidate: Candidate, counts: Uint32Array, total: number, known: Uint8Array): void {
  const scale = 1 / Math.log(2 + total);
  let sum = 0;
  for (let index = 0; index < candidate.slots.length; index += 1) {
    const slot = candidate.slots[index] ?? 0;
    const rarity = Math.log(1 + total / (counts[slot] ?? 1)) * scale;
    const weight = (candidate.weights[index] ?? 0) * rarity * (known[slot] === 1 ? 0.5 : 1);
    candidate.weights[index] = weight;
    sum += weight;
  }
  candidate.score = sum * candidate.factor;
}

/** Keeps the best of each of several equal sections, so that no topic is lost before the selection. */
function keepBest(all: readonly Candidate[]): Candidate[] {
  const stretches = 30;
  const kept: Candidate[] = [];
  for (let index = 0; index < stretches; index += 1) {
    const from = Math.floor((all.length * index) / stretches);
    const to = Math.floor((all.length * (index + 1)) / stretches);
    const stretch = all.slice(from, to).filter((candidate) => candidate.score > 0);
    if (stretch.length > candidatesMax / stretches) stretch.sort((a, b) => b.score - a.score || a.order - b.order);
    kept.push(...stretch.slice(0, candidatesMax / stretches));
  }
  for (const candidate of kept) candidate.tokens = estimateTokens(candidate.text);
  return kept.sort((a, b) => a.order - b.order);
}

/** Cues that words give about their sentence. */
export const cues = {
  stop: 1,
  decision: 2,
  task: 4,
  preference: 8,
  trouble: 16,
  date: 32,
  filler: 64,
  life: 128,
} as const;

const lists: Readonly<Record<keyof typeof cues, string>> = {
  stop: `a about above after again all also am an and any are aren as at be because been before being below between both
    but by can could couldn d did didn do does doesn doing don down during each even few for from further get gets
    getting give go going gonna got had hadn has hasn have haven having he her here hers him his how however i if in
    into is isn it its itself just know let like ll m make many may maybe me might more most much must my myself no nor
    not now of off oh on once one only or other our ours out over own re really s same say says see she should shouldn
    so some something still such sure t take than that the their them then there these they thing think this those
    though through to too under until up us use using ve very want was wasn way we well were weren what when where
    which while who whom why will with won would wouldn yeah yes yet you your yours here's good great new lot keep come
    help look two first need time day back been ensure provide include including based following key important
    consider specific example step steps various different`,
  decision: `decide decided decision agree agreed chose choose chosen settled instead because therefore reason switch
    switched must never always require required requirement constraint policy approved rejected conclude concluded
    cause confirmed final rename replaced supersede superseded migrated changed cancel cancelled canceled postponed
    postpone anymore reconsider rather swap swapped
    决定 决議 決定 因为 所以 必须 采用 选择 改为 原因 理由 採用`,
  task: `todo fixme need needs should plan planning planned plans deadline remind reminder schedule scheduled promise
    task next later tomorrow pending blocked goal goals finish finished complete completed done start started will
    tonight working budget estimate milestone release launch deploy deployed ship shipped
    需要 计划 計画 明天 任务 完成 应该 目标 予定 必要`,
  preference: `like likes love loved prefer prefers preferred want wanted hate enjoy enjoyed wish favorite favourite
    hope hoping dream passion allergic allergy interested fan hobby dislike
    喜欢 想要 希望 讨厌 好き 爱好 愛好`,
  trouble: `error errors exception fail failed failing failure crash crashed panic traceback cannot refused denied
    timeout bug bugs fix fixed broke broken wrong problem issue warning fatal undefined missing invalid corrupt leak
    regression stuck hurt injured sick lost accident
    错误 失败 问题 修复 异常 报错 失敗 問題 修正`,
  date: `january february march april may june july august september october november december jan feb mar apr jun jul
    aug sep sept oct nov dec monday tuesday wednesday thursday friday saturday sunday yesterday today tomorrow tonight
    week weekend weeks month months year years ago last since until birthday anniversary summer winter spring autumn
    今天 昨天 明天 星期 今日 昨日`,
  filler: `wow cool awesome thanks thank hey hi hello haha lol okay ok sounds nice amazing congrats congratulations
    certainly absolutely glad welcome bye wonderful fantastic cheers yep totally definitely woohoo yay aww`,
  life: `my our wife husband mom mum dad mother father son daughter brother sister kids children family friend married
    born moved live lives work works job company school college university bought visited joined met named called
    studied graduated signed won adopted pet dog cat car house trip travel started
    我的 结婚 工作 朋友 家人 学校`,
};

/** Built on first use: most commands write no summary. */
let table: Uint8Array | undefined;

function buildCueTable(): Uint8Array {
  const built = new Uint8Array(tableSize);
  for (const [name, words] of Object.entries(lists)) {
    const bit = cues[name as keyof typeof cues];
    scanWords(words, (slot) => {
      built[slot] = (built[slot] ?? 0) | bit;
    });
  }
  return built;
}

/** The cues of a word, as bits. Words that share a slot of the table share their cues, which is rare enough. */
export function getCues(slot: number): number {
  table ??= buildCueTable();
  return table[slot] ?? 0;
}

/** The words of a text that say something: no stop words, no fillers. */
export function contentWords(text: string): Set<number> {
  const words = new Set<number>();
  scanWords(text, (slot, _shape, length) => {
    if (length > 1 && (getCues(slot) & (cues.stop | cues.filler)) === 0) words.add(slot);
  });
  return words;
}

import { findSentences } from "../../../text/index.ts";
import { type ExploredText, formatCount, formatSummary, splitLines, toSingleLine } from "./summary-format.ts";

const sentencesMax = 3_000;
const headingsMax = 200;
const lengthMin = 25;
const lengthMax = 300;
/** An ideograph carries as much information as a few letters. */
const ideographsMin = 8;
/** Words that mark decisions, findings, requirements or failures. */
const cues =
  /\b(?:must|should|shall|decided|decision|conclusion|result|results|because|therefore|important|critical|required|warning|error|failed|deadline|summary|recommend|never|always|todo)\b/i;
const wordPattern = /[\p{L}\p{N}]{4,}/gu;
/** Scripts without spaces are counted by characters instead of words. */
const ideographs = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u;

interface Sentence {
  text: string;
  index: number;
  score: number;
}

export function exploreProse(subject: ExploredText): string {
  const lines = splitLines(subject);
  const headings = findHeadings(lines);
  const sentences = scoreSentences(splitSentences(lines));
  const best = sentences.toSorted((a, b) => b.score - a.score || a.index - b.index).slice(0, 6);
  const shown = best.toSorted((a, b) => a.index - b.index).map(({ text }) => text);
  const kind = headings.length > 0 ? "Text with headings" : "Text";
  return formatSummary(`${kind}, ${formatCount(lines.length, "line")}, ${subject.extent}`, [
    { label: "Headings", items: headings, separator: " · ", weight: 1 },
    {
      label: "Says",
      items: shown.length > 0 ? shown : lines.filter((line) => line.trim() !== "").slice(0, 20),
      separator: " … ",
      isChoice: true,
      weight: 1.5,
    },
  ]);
}

/** Lines marked with #, or underlined with = or -. */
function findHeadings(lines: readonly string[]): string[] {
  const found: string[] = [];
  let isFenced = false;
  for (const [index, line] of lines.entries()) {
    if (/^\s{0,3}(?:```|~~~)/.test(line)) isFenced = !isFenced;
    if (isFenced || found.length >= headingsMax) continue;
    const marked = /^#{1,6}[ \t]+(.{1,200})/.exec(line)?.[1];
    const isUnderlined = line.trim() !== "" && line.length < 120 && /^(?:={3,}|-{3,})\s*$/.test(lines[index + 1] ?? "");
    if (marked !== undefined) found.push(marked.replace(/(?<![ \t#])[ \t]*#*$/, ""));
    else if (isUnderlined && !/^\s*[-|=#>]/.test(line)) found.push(line);
  }
  return found;
}

function splitSentences(lines: readonly string[]): string[] {
  const sentences = new Set<string>();
  let paragraph = "";
  const flush = () => {
    for (const { start, end } of findSentences(paragraph, { start: 0, end: paragraph.length })) {
      const text = toSingleLine(paragraph.slice(start, end));
      const least = ideographs.test(text) ? ideographsMin : lengthMin;
      if (text.length >= least && sentences.size < sentencesMax) sentences.add(text);
    }
    paragraph = "";
  };
  let isFenced = false;
  for (const line of lines) {
    const isFence = /^\s{0,3}(?:```|~~~)/.test(line);
    if (isFence) isFenced = !isFenced;
    if (isFence || isFenced || /^\s*!\[/.test(line)) continue;
    if (sentences.size >= sentencesMax) break;
    const isBreak = line.trim() === "" || /^\s*(?:#{1,6}\s|[-*+>|]\s|\d+[.)]\s|```|===|---)/.test(line);
    if (isBreak || paragraph.length > 4_000) flush();
    paragraph += `${line.slice(0, 4_000).replace(/^\s*(?:#{1,6}\s.*|[-*+>|]\s|\d+[.)]\s)/, "")} `;
  }
  flush();
  return [...sentences];
}

/** Scores sentences by the frequency of their words, with a bonus for cue words, numbers and an early position. */
function scoreSentences(sentences: readonly string[]): Sentence[] {
  const frequency = new Map<string, number>();
  const words = sentences.map((text) => splitWords(text));
  for (const list of words) for (const word of new Set(list)) frequency.set(word, (frequency.get(word) ?? 0) + 1);
  return sentences.map((text, index) => {
    const list = [...new Set(words[index])];
    const common = list.reduce((sum, word) => sum + Math.log(frequency.get(word) ?? 1), 0) / Math.max(8, list.length);
    const isLong = text.length > lengthMax;
    const score =
      common +
      (cues.test(text) ? 1 : 0) +
      (/\d/.test(text) ? 0.4 : 0) +
      (index === 0 ? 1.5 : index < 5 ? 0.4 : 0) -
      (isLong ? 1.5 : 0);
    return { text, index, score };
  });
}

function splitWords(text: string): string[] {
  const lower = text.toLowerCase();
  if (ideographs.test(lower))
    return Array.from({ length: lower.length - 1 }, (_, index) => lower.slice(index, index + 2));
  return lower.match(wordPattern) ?? [];
}

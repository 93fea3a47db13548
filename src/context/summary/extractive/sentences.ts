import { isSentenceEnd } from "../../../text/index.ts";

/** A sentence, or its equivalent in text that is not prose: a line of code, a piece of a long line. */
export interface Sentence {
  text: string;
  isCode: boolean;
}

export interface Split {
  sentences: Sentence[];
  /** Characters that were skipped because the text is too long. */
  skippedChars: number;
}

/** A longer sentence is split at a clause, so that one endless line does not displace everything else. */
const sentenceCharsMax = 280;
const textCharsMax = 200_000;
const tailChars = 50_000;

const fence = /^\s*(?:```|~~~)/;
const leadingMarks = /^(?:[#>*+•–-]+\s+|\d{1,2}[.)]\s+(?=\S))+/;

/** Splits a text into at most `max` sentences. */
export function splitSentences(text: string, max: number): Split {
  const sentences: Sentence[] = [];
  let skippedChars = 0;
  for (const part of boundText(text)) {
    let isFenced = false;
    let start = 0;
    while (start <= part.length) {
      const found = part.indexOf("\n", start);
      const end = found === -1 ? part.length : found;
      if (sentences.length >= max) {
        skippedChars += part.length - start;
        break;
      }
      const line = part.slice(start, end);
      if (fence.test(line)) isFenced = !isFenced;
      else splitLine(line, isFenced, max, sentences);
      start = end + 1;
    }
  }
  if (text.length > textCharsMax) skippedChars += text.length - textCharsMax;
  return { sentences, skippedChars };
}

/** Only the start and the end of a very long text are read. */
function boundText(text: string): string[] {
  if (text.length <= textCharsMax) return [text];
  return [text.slice(0, textCharsMax - tailChars), text.slice(-tailChars)];
}

function splitLine(raw: string, isFenced: boolean, max: number, sentences: Sentence[]): void {
  const line = raw.trim().replace(leadingMarks, "");
  const isCode = isFenced || looksLikeCode(line);
  let start = 0;
  for (let index = 0; index < line.length && sentences.length < max; index += 1) {
    const isEnd = !isCode && isSentenceEnd(line, index, start);
    if (!isEnd && index + 1 - start < sentenceCharsMax) continue;
    const end = isEnd ? index + 1 : clauseEnd(line, start, index + 1);
    push(line.slice(start, end), isCode, sentences);
    start = end;
    index = end - 1;
  }
  if (start < line.length && sentences.length < max) push(line.slice(start), isCode, sentences);
}

function push(raw: string, isCode: boolean, sentences: Sentence[]): void {
  const text = raw.trim();
  if (text.length > 1) sentences.push({ text, isCode });
}

const codeEnds = /[;{}\\]$|^(?:import|export|const|let|var|def|class|return|func|fn|if \(|for \()\b.*[=({;:]/;

function looksLikeCode(line: string): boolean {
  return line.length < 200 && codeEnds.test(line);
}

/** The last position where a piece can be split between words; otherwise between characters. */
function clauseEnd(line: string, start: number, end: number): number {
  const half = start + sentenceCharsMax / 2;
  for (const mark of ["; ", ", ", "，", " "]) {
    const found = line.lastIndexOf(mark, end - 1);
    if (found > half) return found + 1;
  }
  const last = line.charCodeAt(end - 1);
  return last >= 0xd800 && last <= 0xdbff ? end + 1 : end;
}

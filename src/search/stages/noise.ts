import type { Candidate } from "../candidate.ts";

/** Texts that match many queries and answer none. All patterns have a length limit: longer texts carry information. */
const shortMax = 160;
const noise: readonly { name: string; pattern: RegExp; lengthMax: number }[] = [
  {
    name: "a greeting",
    pattern:
      /^(hi|hello|hey|good (morning|evening|night)|thanks?( you)?|ok(ay)?|bye|hallo|danke|bonjour|merci|hola|gracias|你好|谢谢)\b[\s\p{P}\p{So}\p{L}]{0,24}$/iu,
    lengthMax: 40,
  },
  {
    name: "a refusal",
    pattern:
      /\b(i('m| am) (sorry|unable)|i (can(no|')t|do(n't| not)) (help|have (any )?(memory|information|record|access)|recall|remember))\b/i,
    lengthMax: shortMax,
  },
  {
    name: "a question about memory",
    pattern: /^(do|can|did|what do) you (still )?(remember|recall|know about me)\b.*\?$/i,
    lengthMax: shortMax,
  },
  {
    name: "a diagnostic",
    pattern: /^(ping|pong|test(ing)?( \d+)*|heartbeat(_ok)?|no_reply|health ?check)[.!]?$/i,
    lengthMax: 40,
  },
];

export function detectNoise(text: string): string | undefined {
  const trimmed = text.trim();
  return noise.find(({ pattern, lengthMax }) => trimmed.length <= lengthMax && pattern.test(trimmed))?.name;
}

/** Moves noise to the end; nothing is removed. */
export function moveNoiseLast(candidates: readonly Candidate[]): Candidate[] {
  const last: Candidate[] = [];
  const front = candidates.filter((candidate) => {
    const name = detectNoise(candidate.doc.text);
    if (name === undefined) return true;
    candidate.notes.push(`moved to the end: ${name}`);
    candidate.ranksLast = true;
    last.push(candidate);
    return false;
  });
  return [...front, ...last];
}

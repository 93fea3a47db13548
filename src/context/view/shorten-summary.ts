import { estimateTokens } from "../../text/index.ts";

const citation = /\[msg#(\d+)[^\]]{0,40}\]$/;
const heading = /^[A-Z][a-z]+$/;

/** A summary without the lines about messages from `seq` on, which are shown in more detail after it. */
export function limitSummary(content: string, seq: number): string {
  const lines = content.split("\n");
  const kept = lines.filter((line) => {
    const found = citation.exec(line);
    return found === null || Number(found[1]) < seq;
  });
  return kept.length === lines.length ? content : dropEmptySections(kept).join("\n");
}

function dropEmptySections(lines: readonly string[]): string[] {
  return lines.filter((line, index) => {
    const next = lines[index + 1];
    return !(heading.test(line) && (next === undefined || heading.test(next)));
  });
}

/** The lines of a summary that fit, evenly from all of its sections, newest last; it says what was left out. */
export function shortenSummary(content: string, maxTokens: number): string {
  if (estimateTokens(content) <= maxTokens) return content;
  const lines = content.split("\n");
  const note = (left: number) => `[… ${left} lines left out; open the summary for all of it …]`;
  let room = maxTokens - estimateTokens(note(lines.length)) - 2;
  const sections: number[][] = [];
  for (const [index, line] of lines.entries()) {
    if (heading.test(line) || sections.length === 0) sections.push([]);
    sections.at(-1)?.push(index);
  }
  const kept = new Set<number>();
  // Round by round, each section gives its newest line that is still missing; its heading comes with the first.
  for (let round = 0; round < lines.length && room > 0; round += 1) {
    for (const section of sections) {
      const [first, ...rest] = section;
      const at = rest.length === 0 ? (round === 0 ? first : undefined) : rest.at(-1 - round);
      if (at === undefined || first === undefined) continue;
      const added = [at, ...(heading.test(lines[first] ?? "") && !kept.has(first) ? [first] : [])];
      const cost = added.reduce((sum, index) => sum + estimateTokens(lines[index] ?? "") + 1, 0);
      if (cost > room) continue;
      room -= cost;
      for (const index of added) kept.add(index);
    }
  }
  return [...lines.filter((_, index) => kept.has(index)), note(lines.length - kept.size)].join("\n");
}

import { type Role, roles } from "../../../domain/index.ts";
import { expandPrefix, filesPrefix, noFiles, truncatedMarker } from "../../summary-text.ts";
import type { SummaryTurn } from "../summary-request.ts";

export interface Unfolded {
  turns: SummaryTurn[];
  /** The file lines of the summaries, and their truncation markers. */
  files: { path: string; operation?: string }[];
  terms: string[];
}

const stamp = /^\[(\d{4}-\d\d-\d\d)?(?:(?:^|\s|(?<=\[))(\d\d:\d\d))?[^\]\n]{0,40}\]\s*/;
const speaker = /^([\p{L}][\p{L}\p{N} .'_-]{0,39}): (?=\S)/u;
const fileEntry = /^(\S+)(?: \(([^()]{1,40})\))?$/;

/** Splits summaries into their lines, each with its time and speaker; their markers are removed. */
export function unfoldSummaries(summaries: readonly SummaryTurn[]): Unfolded {
  const unfolded: Unfolded = { turns: [], files: [], terms: [] };
  for (const summary of summaries) {
    let time = summary.time;
    for (const raw of summary.text.split("\n")) {
      const line = raw.trim();
      if (line === "" || line === noFiles || line.startsWith(truncatedMarker)) continue;
      if (line.startsWith(filesPrefix)) unfolded.files.push(...parseFiles(line.slice(filesPrefix.length)));
      else if (line.startsWith(expandPrefix)) unfolded.terms.push(...line.slice(expandPrefix.length).split(/, ?/));
      else {
        const found = stamp.exec(line);
        time = found === null ? time : parseTime(found, time);
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

function parseTime(found: RegExpExecArray, last: number): number {
  const lastDay = Math.abs(last) <= 8.64e15 ? new Date(last).toISOString().slice(0, 10) : "1970-01-01";
  const time = Date.parse(`${found[1] ?? lastDay}T${found[2] ?? "00:00"}Z`);
  return Number.isNaN(time) ? last : time;
}

function parseFiles(list: string): { path: string; operation?: string }[] {
  return list.split(", ").flatMap((entry) => {
    const found = fileEntry.exec(entry);
    return found?.[1] === undefined ? [] : [{ path: found[1], operation: found[2] }];
  });
}

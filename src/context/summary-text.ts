import { formatStamp, showControls } from "../domain/index.ts";

/** The fixed lines of every summary; they are recognised by these prefixes when summaries are condensed. */
export const filesPrefix = "Files: ";
export const noFiles = "Files: none";
export const expandPrefix = "Expand for details about: ";
/** The line that tells how many tokens of messages a summary stands for. */
export const sourcePrefix = "Stands for ";
export const truncatedMarker = "[Truncated for context management]";

/** Formats times with their zone: `2024-05-08 13:56Z`, `2024-05-08 21:56+08:00`. An invalid time gives an empty text. */
export function timeWriter(timeZone?: string): (time: number) => string {
  return (time) => formatStamp(time, timeZone);
}

/** `2024-05-08 13:56Z to 14:20Z`; a range of several days names both days. */
export function timeRange(from: number, to: number, write: (time: number) => string): string {
  const [first, last] = [write(from), write(to)];
  if (first === last || last === "") return first;
  const isSameDay = first.slice(0, 10) === last.slice(0, 10);
  return `${first} to ${isSameDay ? last.slice(11) : last}`;
}

const entities: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

/** Escapes text between tags: it can open or close none. Quotes stay, because they are common and cost tokens. */
export function escapeContent(text: string): string {
  return showControls(text).replace(/[&<]/g, (character) => entities[character] ?? character);
}

/** Escapes text for use inside a tag or an attribute. */
export function escapeXml(text: string): string {
  return showControls(text).replace(/[&<>"]/g, (character) => entities[character] ?? character);
}

/** What every reader gets: the text, and whether there is more of it. */
export interface Subject {
  text: string;
  isCut: boolean;
  /** How much there is, and how much of it was looked at: the first line of a summary ends with it. */
  extent: string;
}

/** The lines of a text. The last one is left out where the text was cut in it, unless there is no other. */
export function splitLines({ text, isCut }: Subject): string[] {
  const lines = text.split(/\r\n|\n|\r/);
  if (lines.length > 1 && (isCut || lines.at(-1) === "")) lines.pop();
  return lines;
}

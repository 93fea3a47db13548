import { z } from "zod";
import { VarveError } from "../domain/index.ts";
import { cuts, note } from "./fields.ts";
import { clip, textMax } from "./output-budget.ts";

/** The result of lcm_describe: the fields of every citation, and one more part for each kind. */
export const described = z.object({
  note,
  id: z.string(),
  kind: z.enum(["summary", "file", "message"]),
  conversation: z.number(),
  text: z.string().describe("The text of a message or summary, a file's description, or its lines."),
  summary: z
    .object({
      kind: z.enum(["leaf", "condensed"]),
      depth: z.number(),
      tokens: z.number(),
      earliestAt: z.string(),
      latestAt: z.string(),
      writtenBy: z.string(),
      sources: z.array(z.string()),
      parents: z.array(z.string()),
      fileIds: z.array(z.string()),
      subtree: z.object({
        summaries: z.number(),
        summaryTokens: z.number(),
        messages: z.number(),
        messageTokens: z.number(),
        fits: z.boolean(),
      }),
    })
    .optional(),
  file: z
    .object({
      name: z.string().nullable(),
      mediaType: z.string().nullable(),
      kind: z.string(),
      bytes: z.number(),
      lines: z.number(),
      tokens: z.number(),
      heldBy: z.array(z.string()),
    })
    .optional(),
  message: z.object({ role: z.string(), time: z.string(), tokens: z.number(), sessionId: z.string() }).optional(),
  range: z.object({ startLine: z.number(), endLine: z.number(), totalLines: z.number() }).optional(),
  cuts,
});
export type Described = z.input<typeof described>;

const charactersPerToken = 4;

export function textMaxFor(tokenCap: number | undefined): number {
  return tokenCap === undefined ? textMax : Math.min(textMax, tokenCap * charactersPerToken);
}

/** As many lines of a text as the output budget allows. */
export function selectLines(
  text: string,
  asked: { startLine?: number; endLine?: number },
  room: number,
): { text: string; range: NonNullable<Described["range"]>; cuts: string[] } {
  const lines = text.split("\n");
  const totalLines = lines.length;
  const startLine = asked.startLine ?? 1;
  const last = Math.min(asked.endLine ?? totalLines, totalLines);
  if (startLine > totalLines) {
    throw new VarveError("BAD_REQUEST", `The message has the lines 1 to ${totalLines}, not ${startLine}.`, {
      remedy: "Send startLine and endLine within these.",
    });
  }
  const clipped = clip(lines.slice(startLine - 1, last).join("\n"), room);
  if (!clipped.cut) return { text: clipped.text, range: { startLine, endLine: last, totalLines }, cuts: [] };
  const endLine = startLine + clipped.text.split("\n").length - 1;
  const { shown, of } = clipped.cut;
  const how = endLine > startLine ? `; go on with startLine ${endLine}` : "; lcm_grep shows places in it";
  return {
    text: clipped.text,
    range: { startLine, endLine, totalLines },
    cuts: [`the text ends after ${shown} of ${of} characters, in line ${endLine} of ${totalLines}${how}`],
  };
}

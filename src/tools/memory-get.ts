import { z } from "zod";
import type { Description } from "../context/index.ts";
import { VarveError } from "../domain/index.ts";
import { getEntryText } from "../transcript/index.ts";
import { resolvePlace, resolveScope, type ToolContext } from "./context.ts";
import { cuts, note, text, whole } from "./fields.ts";
import { clip, page } from "./output-budget.ts";
import { name, notice, quote } from "./quote.ts";
import { defineTool, readOnly } from "./tool.ts";

const linesMax = 10_000_000;
const stored = /^(?:sum_[0-9a-f]{16}|file_[0-9a-f]{16}|msg#\d{1,15}|mem_[0-9a-z]{19})$/;

const input = z
  .strictObject({
    path: text(4_096)
      .optional()
      .describe("A note or file as memory_search cites it: MEMORY.md, memory/2026-01-15.md, or memory/plan.md#L3-L9."),
    id: text(4_096).optional().describe("Any citation instead: msg#N, sum_…, file_…, mem_…, or a path with its lines."),
    from: whole(1, linesMax).optional().describe("The first line to read, from 1. The first cited one when absent."),
    lines: whole(1, linesMax).optional().describe("How many lines. As many as are cited, or all, when absent."),
  })
  .refine(({ path, id }) => (path === undefined) !== (id === undefined), {
    message: "Send either path or id, and not both",
    path: ["path"],
    params: { whole: true },
  });

interface Got {
  kind: "note" | Description["kind"];
  path: string;
  text: string;
  startLine: number;
  totalLines: number;
  cuts: string[];
}

export const memoryGet = defineTool({
  name: "memory_get",
  title: "Read a note or a citation",
  description:
    "Reads what memory_search cites: lines of a note or file by its path (MEMORY.md, memory/plan.md#L3-L9) with from " +
    "and lines, or the text behind msg#N, sum_…, file_… and mem_…. Read only the lines you need; more of them are one call away.",
  input,
  output: z.object({
    note,
    kind: z.enum(["note", "message", "summary", "file", "memory"]),
    path: z.string().describe("The path, or the citation."),
    text: z.string(),
    range: z.object({ startLine: z.number(), endLine: z.number(), totalLines: z.number() }),
    cuts,
  }),
  annotations: readOnly,
  rights: ["read"],
  notIn: { delegated: "Use lcm_describe: it keeps to what the grant opens." },
  async run(context, asked) {
    const target = asked.path ?? asked.id ?? "";
    const got = stored.test(target) ? await readStored(context, target, asked) : await readFile(context, target, asked);
    const clipped = clip(got.text);
    const endLine = got.startLine + Math.max(1, clipped.text.split("\n").length) - 1;
    const cutLines = [
      ...(clipped.cut ? [`line ${endLine} and what follows do not fit an answer; go on with from ${endLine}`] : []),
      ...got.cuts,
    ];
    const range = { startLine: got.startLine, endLine, totalLines: got.totalLines };
    return {
      markdown: page(
        `memory_get: ${name(got.path)}, lines ${range.startLine} to ${endLine} of ${range.totalLines}`,
        [notice, quote(clipped.text)],
        cutLines,
      ),
      structured: { note: notice, kind: got.kind, path: got.path, text: clipped.text, range, cuts: cutLines },
    };
  },
});

async function readFile(context: ToolContext, path: string, { from, lines }: z.output<typeof input>): Promise<Got> {
  const { agent, principal } = await resolvePlace(context);
  const { text: words, ...rest } = await context.services.search.read(path, { agent, principal, from, lines });
  return { kind: "note", text: words, ...rest, cuts: [] };
}

/** Reads a message, summary or file. A file without requested lines is described instead. */
async function readStored(context: ToolContext, id: string, { from, lines }: z.output<typeof input>): Promise<Got> {
  const scope = await resolveScope(context, { allConversations: true });
  const wantsLines = from !== undefined || lines !== undefined;
  const startLine = from ?? 1;
  const range = { startLine, ...(lines === undefined ? {} : { endLine: startLine + lines - 1 }) };
  const found = await context.services.context.describe(id, {
    ...scope,
    ...(id.startsWith("file_") && wantsLines ? range : {}),
  });
  if (found.kind === "file" && found.lines) {
    const { text: words, totalLines, cut } = found.lines;
    return { kind: "file", path: id, text: words, startLine, totalLines, cuts: cut === undefined ? [] : [cut] };
  }
  const all = getDescriptionText(found).split("\n");
  if (startLine > all.length) {
    throw new VarveError("BAD_REQUEST", `${id} has the lines 1 to ${all.length}, not ${startLine}.`, {
      remedy: `Send from between 1 and ${all.length}.`,
    });
  }
  const shown = all.slice(startLine - 1, lines === undefined ? undefined : startLine - 1 + lines);
  const hint = found.kind === "file" ? ["this describes the content; send from and lines for its own lines"] : [];
  return { kind: found.kind, path: id, text: shown.join("\n"), startLine, totalLines: all.length, cuts: hint };
}

function getDescriptionText(found: Description): string {
  switch (found.kind) {
    case "summary":
      return found.summary.content;
    case "file":
      return [found.file.summary, found.file.byModel?.text].filter(Boolean).join("\n\n");
    case "message":
      return getEntryText(found.entry);
    case "memory":
      return found.memory.content;
  }
}

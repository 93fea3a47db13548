import { z } from "zod";
import type { Description } from "../context/index.ts";
import { VarveError } from "../domain/index.ts";
import { getEntryText } from "../transcript/index.ts";
import { resolveScope } from "./context.ts";
import {
  allConversations,
  conversationId,
  cuts,
  flag,
  note,
  oneScope,
  oneScopeFault,
  tokenCap,
  whole,
} from "./fields.ts";
import { memoryBlock, remembered } from "./memory-fields.ts";
import { clip, page, textMax } from "./output-budget.ts";
import { instantText, minuteText, name, notice, quote, shortName } from "./quote.ts";
import { defineTool, readOnly } from "./tool.ts";

/** The result of lcm_describe: the fields of every citation, and one more part for each kind. */
export const described = z.object({
  note,
  id: z.string(),
  kind: z.enum(["summary", "file", "message", "memory"]),
  conversation: z.number().optional().describe("Absent for a memory."),
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
  memory: remembered.optional(),
  range: z.object({ startLine: z.number(), endLine: z.number(), totalLines: z.number() }).optional(),
  cuts,
});
export type Described = z.input<typeof described>;

const charactersPerToken = 4;

function textMaxFor(tokenCap: number | undefined): number {
  return tokenCap === undefined ? textMax : Math.min(textMax, tokenCap * charactersPerToken);
}

/** As many lines of a text as the output budget allows. */
function selectLines(
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

const linesMax = 10_000_000;
const listedMax = 100;

const input = z
  .strictObject({
    id: z
      .string("must be a citation")
      .regex(
        /^(?:sum_[0-9a-f]{16}|file_[0-9a-f]{16}|(?:msg#)?\d{1,15}|mem_[0-9a-z]{19})$/,
        "is no citation: sum_ or file_ and 16 hex digits, msg#N, or mem_…",
      )
      .describe("A citation: sum_… for a summary, file_… for large content, msg#N for a message, mem_… for a memory."),
    conversationId,
    allConversations,
    tokenCap: tokenCap.describe(
      "How many tokens of content at most, 1 to 200000; the setting context.maxExpandTokens when absent.",
    ),
    expandFile: flag()
      .optional()
      .describe("true shows a file's own lines, from the first on, instead of a description."),
    startLine: whole(1, linesMax).optional().describe("The first line of a file or a message to show, from 1."),
    endLine: whole(1, linesMax)
      .optional()
      .describe("The last line of a file or a message to show, not before startLine."),
  })
  .refine(oneScope, oneScopeFault)
  .refine(({ startLine, endLine }) => (startLine ?? 1) <= (endLine ?? linesMax), {
    message: "endLine must not be before startLine",
    path: ["endLine"],
    params: { whole: true },
  })
  .refine(({ id, startLine, endLine }) => !/^(?:sum|mem)_/.test(id) || (startLine ?? endLine) === undefined, {
    message: "Lines can be asked of files and messages, not of a summary or memory: leave startLine and endLine out",
    path: ["startLine"],
    params: { whole: true },
  })
  .refine(({ id, expandFile }) => /^file_/.test(id) || expandFile !== true, {
    message: "expandFile is for file_… ids: leave it out",
    path: ["expandFile"],
    params: { whole: true },
  });
type Asked = z.output<typeof input>;

export const lcmDescribe = defineTool({
  name: "lcm_describe",
  title: "Open a citation",
  description:
    "Shows what a citation stands for. A message (msg#N): its text. A summary (sum_…): its text, what it was made from, " +
    "which summaries it went into, and how many tokens lie below it. Large content (file_…): what it is and what is in " +
    "it; with expandFile, or startLine and endLine, its own lines word for word. Use it on citations from lcm_grep, from " +
    "summaries and from references in your context.",
  input,
  output: described,
  annotations: readOnly,
  rights: ["read"],
  notIn: {},
  async run(context, asked) {
    const scope = await resolveScope(context, asked);
    const { id, tokenCap: cap, expandFile, startLine, endLine } = asked;
    const lines = /^file_/.test(id) ? { expandFile, startLine, endLine } : {};
    const found = await context.services.context.describe(id, { ...scope, tokenCap: cap, ...lines });
    const { heading, words, structured } = answerFor(found, asked);
    return {
      markdown: page(heading, [notice, ...words], structured.cuts),
      structured: {
        note: notice,
        ...(found.conversation === undefined ? {} : { conversation: found.conversation }),
        ...structured,
      },
    };
  },
});

interface Answer {
  heading: string;
  words: string[];
  structured: Omit<Described, "note" | "conversation">;
}

function answerFor(found: Description, asked: Asked): Answer {
  switch (found.kind) {
    case "summary":
      return summaryAnswer(found);
    case "file":
      return fileAnswer(found);
    case "message":
      return messageAnswer(found, asked);
    case "memory":
      return memoryAnswer(found);
  }
}

function summaryAnswer({
  summary,
  sources,
  parents,
  subtree,
  conversation,
}: Extract<Description, { kind: "summary" }>): Answer {
  const { id, kind, depth, earliestAt, latestAt, tokens, level, model, fileIds } = summary;
  const { text, cut } = clip(summary.content);
  const listed = sources.slice(0, listedMax);
  const cuts = [
    ...(cut ? [`the summary ends after ${cut.shown} of ${cut.of} characters`] : []),
    ...(fileIds.length > listedMax
      ? [`${fileIds.length - listedMax} of its ${fileIds.length} files are not listed`]
      : []),
    ...(listed.length < sources.length
      ? [`${sources.length - listed.length} of its ${sources.length} sources are not listed`]
      : []),
  ];
  const below = `${subtree.summaries} summaries (${subtree.summaryTokens} tokens) and ${subtree.messages} messages (${subtree.messageTokens} tokens)`;
  const words = [
    quote(text),
    `- ${kind}, depth ${depth}, ${tokens} tokens, ${minuteText(earliestAt)} to ${minuteText(latestAt)}, conversation ${conversation}`,
    `- below it: ${below}; all of it ${subtree.fits ? "fits" : "does not fit"} the tokenCap`,
    `- made from: ${listed.join(", ") || "nothing"}`,
    `- went into: ${parents.join(", ") || "no other summary"}`,
    ...(fileIds.length === 0 ? [] : [`- large content: ${fileIds.slice(0, listedMax).join(", ")}`]),
  ];
  const value = {
    kind,
    depth,
    tokens,
    earliestAt: instantText(earliestAt),
    latestAt: instantText(latestAt),
    writtenBy: model ?? level,
    sources: listed,
    parents,
    fileIds: fileIds.slice(0, listedMax),
    subtree,
  };
  return {
    heading: `lcm_describe: ${id}`,
    words: [words[0] ?? "", words.slice(1).join("\n")],
    structured: { id, kind: "summary", text, summary: value, cuts },
  };
}

function fileAnswer({ file, entries, lines, conversation }: Extract<Description, { kind: "file" }>): Answer {
  const { id, mediaType, kind, bytes, tokens } = file;
  const facts = [
    `- ${file.name === null ? "no name" : name(file.name)}, ${name(mediaType ?? kind)}, ${bytes} bytes, ${file.lines} lines, about ${tokens} tokens`,
    `- held by ${entries.join(", ")}, conversation ${conversation}`,
  ].join("\n");
  const value = {
    name: file.name === null ? null : shortName(file.name),
    mediaType,
    kind,
    bytes,
    lines: file.lines,
    tokens,
    heldBy: entries,
  };
  if (!lines) {
    const { text, cut } = clip([file.summary, file.byModel?.text].filter(Boolean).join("\n\n"));
    const cuts = cut ? [`the description ends after ${cut.shown} of ${cut.of} characters`] : [];
    return {
      heading: `lcm_describe: ${id}`,
      words: [facts, quote(text), "Send expandFile, or startLine and endLine, for its own lines."],
      structured: { id, kind: "file", text, file: value, cuts },
    };
  }
  const { text, cut } = clip(lines.text);
  const endLine = cut ? lines.startLine + text.split("\n").length - 1 : lines.endLine;
  const cuts = [
    ...(cut ? [`line ${endLine} and what follows do not fit an answer; go on with startLine ${endLine}`] : []),
    ...(lines.cut === undefined ? [] : [lines.cut]),
  ];
  const range = { startLine: lines.startLine, endLine, totalLines: lines.totalLines };
  return {
    heading: `lcm_describe: ${id}, lines ${range.startLine} to ${endLine} of ${range.totalLines}`,
    words: [facts, quote(text)],
    structured: { id, kind: "file", text, file: value, range, cuts },
  };
}

function memoryAnswer({ memory }: Extract<Description, { kind: "memory" }>): Answer {
  const { words, value } = memoryBlock(memory);
  const { text, cut } = clip(memory.content);
  const cuts = cut ? [`the memory ends after ${cut.shown} of ${cut.of} characters`] : [];
  return {
    heading: `lcm_describe: ${memory.id}`,
    words: [words],
    structured: { id: memory.id, kind: "memory", text, memory: value, cuts },
  };
}

function messageAnswer({ entry, conversation }: Extract<Description, { kind: "message" }>, asked: Asked): Answer {
  const role = shortName("message" in entry ? (entry.message.name ?? entry.message.role) : entry.type);
  const { text, range, cuts } = selectLines(getEntryText(entry), asked, textMaxFor(asked.tokenCap));
  const id = `msg#${entry.seq}`;
  const part =
    range.totalLines > 1 || cuts.length > 0
      ? `, lines ${range.startLine} to ${range.endLine} of ${range.totalLines}`
      : "";
  return {
    heading: `lcm_describe: ${id}${part}`,
    words: [
      `- ${name(role)}, ${minuteText(entry.time)}, ${entry.tokens} tokens, conversation ${conversation}`,
      quote(text),
    ],
    structured: {
      id,
      kind: "message",
      text,
      message: { role, time: instantText(entry.time), tokens: entry.tokens, sessionId: entry.sessionId },
      range,
      cuts,
    },
  };
}

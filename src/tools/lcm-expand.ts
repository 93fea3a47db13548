import { z } from "zod";
import type { Expansion } from "../context/index.ts";
import type { Entry } from "../domain/index.ts";
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
  query,
  summaryIds,
  tokenCap,
  whole,
} from "./fields.ts";
import { type Block, clip, fitting, page, sayCuts } from "./output-budget.ts";
import { instantText, minuteText, name, notice, quote, shortName } from "./quote.ts";
import { defineTool, readOnly } from "./tool.ts";

const input = z
  .strictObject({
    summaryIds: summaryIds.describe(
      'Which summaries to open, such as ["sum_0123456789abcdef"]; or send a query instead.',
    ),
    query: query.describe("Words whose best hits are opened; or send summaryIds instead."),
    maxDepth: whole(0, 20).default(3).describe("How many levels to go down, 0 to 20. 3 when absent."),
    tokenCap: tokenCap.describe(
      "How many tokens of content at most, 1 to 200000; the setting context.maxExpandTokens when absent.",
    ),
    includeMessages: flag().default(false).describe("true goes down to the messages themselves. false when absent."),
    conversationId,
    allConversations,
  })
  .refine((asked) => (asked.summaryIds === undefined) !== (asked.query === undefined), {
    message: "Either summaryIds or query is needed, and not both",
    path: ["summaryIds"],
    params: { whole: true },
  })
  .refine(oneScope, oneScopeFault);

const item = z.object({
  citation: z.string(),
  kind: z.enum(["leaf", "condensed", "message"]),
  /** How many levels below the requested summary. */
  level: z.number(),
  conversation: z.number().optional(),
  role: z.string().optional(),
  time: z.string(),
  until: z.string().optional(),
  tokens: z.number(),
  text: z.string(),
});
type Item = z.input<typeof item>;

export const lcmExpand = defineTool({
  name: "lcm_expand",
  title: "Open summaries",
  description:
    "Opens summaries of the history down to what they were made from: the summaries below and, with includeMessages, " +
    "the original messages word for word. Use it after lcm_grep or lcm_describe named a summary (sum_…), or with a " +
    "query to open what fits best. Returns each text under its citation, oldest first, within tokenCap; the answer " +
    "says what was left out and how to get it.",
  input,
  output: z.object({ note, items: z.array(item), tokens: z.number(), cuts }),
  annotations: readOnly,
  rights: ["read"],
  notIn: {
    session:
      "Ask lcm_expand_query: a delegated reader opens the summaries and answers, so that they do not fill this conversation.",
  },
  async run(context, { conversationId: one, allConversations: all, ...asked }) {
    const scope = await resolveScope(context, { conversationId: one, allConversations: all });
    const found = await context.services.context.expand({ ...asked, ...scope });
    const { kept, rest } = fitting(found.nodes.flatMap((node) => toBlocks(node, 0)));
    const clipped = kept.flatMap((block) => block.cut ?? []);
    const cutLines = sayCuts([...(found.cut === undefined ? [] : [found.cut]), ...leftOver(rest), ...clipped]);
    const nothing =
      asked.query === undefined
        ? "None of the summaries fits the tokenCap."
        : `No summary holds ${name(asked.query)}: what was said lately is not summarised yet; lcm_grep finds it.`;
    return {
      markdown: page(
        `lcm_expand: ${kept.length} texts, ${found.tokens} tokens`,
        kept.length === 0 ? [nothing] : [notice, ...kept.map(({ words }) => words)],
        cutLines,
      ),
      structured: { note: notice, items: kept.map(({ value }) => value), tokens: found.tokens, cuts: cutLines },
    };
  },
});

function toBlocks({ summary, children, messages }: Expansion["nodes"][number], level: number): Block<Item>[] {
  const { id, kind, depth, conversation, earliestAt, latestAt, tokens, content, sourceMessageCount } = summary;
  const { text, ...cut } = shortened(id, content);
  const span = `${minuteText(earliestAt)} to ${minuteText(latestAt)}`;
  const heading = `## ${id} · ${kind}, depth ${depth} · ${span} · ${sourceMessageCount} messages · conversation ${conversation}`;
  const own: Block<Item> = {
    words: `${heading}\n\n${quote(text)}`,
    value: {
      citation: id,
      kind,
      level,
      conversation,
      time: instantText(earliestAt),
      until: instantText(latestAt),
      tokens,
      text,
    },
    ...cut,
  };
  return [
    own,
    ...children.flatMap((child) => toBlocks(child, level + 1)),
    ...messages.map((entry) => messageBlock(entry, level + 1)),
  ];
}

function messageBlock(entry: Entry, level: number): Block<Item> {
  const citation = `msg#${entry.seq}`;
  const role = shortName("message" in entry ? (entry.message.name ?? entry.message.role) : entry.type);
  const { text, ...cut } = shortened(citation, getEntryText(entry));
  return {
    words: `### ${citation} · ${name(role)} · ${minuteText(entry.time)}\n\n${quote(text)}`,
    value: { citation, kind: "message", level, role, time: instantText(entry.time), tokens: entry.tokens, text },
    ...cut,
  };
}

function shortened(citation: string, whole: string): { text: string; cut?: string } {
  const { text, cut } = clip(whole);
  if (!cut) return { text };
  const { shown, of } = cut;
  return { text, cut: `${citation} ends after ${shown} of ${of} characters; lcm_describe shows more by startLine` };
}

const namedMax = 10;

function leftOver(rest: readonly Block<Item>[]): string[] {
  if (rest.length === 0) return [];
  const named = rest.slice(0, namedMax).map(({ value }) => value.citation);
  const more = rest.length > namedMax ? ` and ${rest.length - namedMax} more` : "";
  return [`${rest.length} texts do not fit an answer: ${named.join(", ")}${more}; open them by id`];
}

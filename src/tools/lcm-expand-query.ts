import { z } from "zod";
import { resolveScope } from "./context.ts";
import {
  allConversations,
  conversationId,
  cuts,
  note,
  oneScope,
  oneScopeFault,
  query,
  summaryIds,
  text,
  tokenCap,
  whole,
} from "./fields.ts";
import { clip, page, sayCuts } from "./output-budget.ts";
import { notice, quote } from "./quote.ts";
import { defineTool, readOnly } from "./tool.ts";

const citationsMax = 300;

const input = z
  .strictObject({
    prompt: text(10_000).describe("The question to answer from the history, as a whole sentence."),
    summaryIds: summaryIds.describe(
      'Only what is under these summaries, such as ["sum_0123456789abcdef"]; or send a query instead.',
    ),
    query: query.describe("What to look for, when other words than the question's are likely to be in the history."),
    maxTokens: whole(1, 20_000)
      .default(2000)
      .describe("How long the answer may be in tokens, 1 to 20000. 2000 when absent."),
    tokenCap: tokenCap.describe("How many tokens of history the reader may read, 1 to 200000; 16000 when absent."),
    conversationId,
    allConversations,
  })
  .refine((asked) => asked.summaryIds === undefined || asked.query === undefined, {
    message: "summaryIds and query exclude each other: send one of them, or neither to look for the question itself",
    path: ["summaryIds"],
    params: { whole: true },
  })
  .refine(oneScope, oneScopeFault);

export const lcmExpandQuery = defineTool({
  name: "lcm_expand_query",
  title: "Ask the history",
  description:
    "Answers a question from the stored history: a reader of its own opens what fits, summaries down to the original " +
    "messages, and returns a short answer with citations (msg#N). Use it when the answer is spread over many messages, " +
    "or before you assert details that your context only has in summary. Where no language model is set up it returns " +
    "the passages that fit best instead. One question at a time.",
  input,
  output: z.object({
    note,
    answer: z.string(),
    citations: z.array(z.string()),
    model: z.string().nullable().describe("Which model answered; null when the passages themselves are the answer."),
    tokensRead: z.number(),
    cuts,
  }),
  annotations: readOnly,
  rights: ["read"],
  notIn: { delegated: "A delegated reader cannot delegate again: use lcm_grep, lcm_describe and lcm_expand." },
  async run(context, { conversationId: one, allConversations: all, ...asked }) {
    const scope = await resolveScope(context, { conversationId: one, allConversations: all });
    const found = await context.services.context.expandQuery({ ...asked, ...scope, signal: context.signal });
    const { text: answer, cut } = clip(found.answer);
    const citations = found.citations.slice(0, citationsMax);
    const cutLines = sayCuts([
      ...found.notes,
      ...(cut ? [`the answer ends after ${cut.shown} of ${cut.of} characters; lower maxTokens`] : []),
      ...(citations.length < found.citations.length
        ? [`${found.citations.length - citations.length} citations are not listed`]
        : []),
    ]);
    const by = found.model === undefined ? "passages that fit, word for word" : "answer of a model";
    return {
      markdown: page(
        `lcm_expand_query: ${by}, ${found.tokensRead} tokens read`,
        [notice, quote(answer), `Rests on: ${citations.length === 0 ? "nothing" : citations.join(", ")}`],
        cutLines,
      ),
      structured: {
        note: notice,
        answer,
        citations,
        model: found.model ?? null,
        tokensRead: found.tokensRead,
        cuts: cutLines,
      },
    };
  },
});

import { z } from "zod";
import { canSeeConversation, canUseAgent } from "../authorization/index.ts";
import { VarveError } from "../domain/index.ts";
import type { Session } from "../session/index.ts";
import { noSession, resolvePlace, type ToolContext } from "./context.ts";
import { cuts, note, text } from "./fields.ts";
import { page } from "./output-budget.ts";
import { minuteText, name, namesNotice } from "./quote.ts";
import { agent, listedSession, resolveAgent, sessionValue } from "./session-list.ts";
import { defineTool, readOnly } from "./tool.ts";

export const sessionStatus = defineTool({
  name: "session_status",
  title: "Show a session",
  description:
    "Tells how a conversation stands: how many messages it has, how much of it is in view word for word and how much as " +
    "summaries, how often it was compacted, when it was used last. Use it to judge whether your context may lack detail " +
    "that lcm_grep or lcm_expand_query can bring back.",
  input: z.strictObject({
    agent,
    key: text(512)
      .optional()
      .describe(
        "A session key or a session id, as session_list shows them; the present session when absent and there is one.",
      ),
  }),
  output: z.object({
    note,
    session: listedSession,
    context: z.object({ summaries: z.number(), summaryTokens: z.number(), rawTokens: z.number() }),
    tokens: z.object({ input: z.number(), output: z.number(), total: z.number() }),
    cuts,
  }),
  annotations: readOnly,
  rights: ["read"],
  notIn: { delegated: "A grant opens conversations, not their state: search with lcm_grep." },
  async run(context, asked) {
    const session = await meant(context, asked);
    const { summaries, summaryTokens, rawTokens } = await context.services.context.overview(session);
    const { inputTokens, outputTokens, totalTokens, compactionCount, messageCount } = session;
    const lines = [
      `- key ${name(session.key)}, session ${name(session.sessionId)}, conversation ${session.conversation}, agent ${name(session.agent)}`,
      `- ${messageCount} messages since ${minuteText(session.sessionStartedAt)}, last used ${minuteText(session.lastInteractionAt)}`,
      `- in view: ${summaries.length} summaries of ${summaryTokens} tokens, then ${rawTokens} tokens word for word; compacted ${compactionCount} times`,
      `- tokens counted by the provider: ${inputTokens} in, ${outputTokens} out, ${totalTokens} in all`,
    ];
    return {
      markdown: page(`session_status: ${name(session.key)}`, [namesNotice, lines.join("\n")], []),
      structured: {
        note: namesNotice,
        session: sessionValue(session),
        context: { summaries: summaries.length, summaryTokens, rawTokens },
        tokens: { input: inputTokens, output: outputTokens, total: totalTokens },
        cuts: [],
      },
    };
  },
});

async function meant(context: ToolContext, asked: { agent?: string; key?: string }): Promise<Session> {
  const agentNamed = await resolveAgent(context, asked.agent);
  const { session: own, principal } = await resolvePlace(context);
  if (asked.key === undefined) {
    if (own) return own;
    throw new VarveError("BAD_REQUEST", "These tools are not used inside a session, so one has to be named.", {
      remedy: "Send key: a session key or a session id that session_list shows.",
    });
  }
  const session = await context.services.sessions.get(asked.key, agentNamed);
  const isForeign = own !== undefined && session.agent !== agentNamed;
  if (isForeign || !canUseAgent(principal, session.agent) || !canSeeConversation(principal, session.conversation))
    throw noSession(`There is no session ${JSON.stringify(asked.key)}.`);
  return session;
}

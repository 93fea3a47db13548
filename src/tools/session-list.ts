import { z } from "zod";
import { canUseAgent, foreignAgent } from "../authorization/index.ts";
import type { ListedSession } from "../session/index.ts";
import { resolvePlace, type ToolContext } from "./context.ts";
import { cuts, note, text } from "./fields.ts";
import { type Block, fitting, page } from "./output-budget.ts";
import { instantText, minuteText, name, namesNotice, shortName } from "./quote.ts";
import { defineTool, readOnly } from "./tool.ts";

const sessionsMax = 100;

export const agent = text(128)
  .transform((value) => value.toLowerCase())
  .optional()
  .describe("Whose sessions, such as main; the agent this memory belongs to when absent.");

export const listedSession = z.object({
  key: z.string(),
  sessionId: z.string(),
  agent: z.string(),
  conversation: z.number(),
  chatType: z.string(),
  channel: z.string().optional(),
  displayName: z.string().optional(),
  messages: z.number(),
  compactions: z.number(),
  startedAt: z.string(),
  lastInteractionAt: z.string(),
  parentKey: z.string().optional(),
  subagents: z.number().optional(),
});

export const sessionList = defineTool({
  name: "session_list",
  title: "List sessions",
  description:
    "Lists the conversations that are remembered, the latest used first, with their keys, session ids and sizes. Use it " +
    "to find which conversation to search: pass a key, a session id or a conversation's number as conversationId to the " +
    "lcm tools. Shows at most 100; narrow it with key.",
  input: z.strictObject({
    agent,
    key: text(512)
      .optional()
      .describe("Only sessions whose key contains this, such as telegram; sub-agents are listed then too."),
  }),
  output: z.object({ note, sessions: z.array(listedSession), cuts }),
  annotations: readOnly,
  rights: ["read"],
  notIn: { delegated: "A grant opens conversations, not the list of them: search with lcm_grep." },
  async run(context, asked) {
    const agentNamed = await resolveAgent(context, asked.agent);
    const { conversations } = (await resolvePlace(context)).principal;
    const listed = { agent: agentNamed, limit: sessionsMax, match: asked.key, conversations };
    const found = await context.services.sessions.list(listed);
    const { kept, rest } = fitting(found.sessions.map(toBlock));
    const more = found.next === undefined ? "" : " and more";
    const cutLines =
      rest.length > 0 || found.next !== undefined
        ? [
            `${kept.length} sessions are shown, there are ${rest.length > 0 ? `${rest.length} others` : "others"}${more}; narrow the list with key`,
          ]
        : [];
    const nothing =
      asked.key === undefined ? "There are no sessions yet." : `No session's key contains ${name(asked.key)}.`;
    return {
      markdown: page(
        `session_list: ${kept.length} sessions`,
        kept.length === 0 ? [nothing] : [namesNotice, ...kept.map(({ words }) => words)],
        cutLines,
      ),
      structured: { note: namesNotice, sessions: kept.map(({ value }) => value), cuts: cutLines },
    };
  },
});

/** The agent that is asked about. A caller that is bound to one cannot name another. */
export async function resolveAgent(context: ToolContext, named: string | undefined): Promise<string | undefined> {
  const { agent: own, session, principal } = await resolvePlace(context);
  if (named === undefined || named === own) return own;
  const isAllowed = session === undefined && canUseAgent(principal, named);
  if (isAllowed) return named;
  throw foreignAgent({ ...principal, agents: principal.agents ?? (own === undefined ? [] : [own]) }, named);
}

export function sessionValue(session: ListedSession): z.input<typeof listedSession> {
  const { key, sessionId, agent: owner, conversation, chatType, channel, displayName } = session;
  return {
    key,
    sessionId,
    agent: owner,
    conversation,
    chatType,
    ...(channel === undefined ? {} : { channel }),
    ...(displayName === undefined ? {} : { displayName: shortName(displayName) }),
    messages: session.messageCount,
    compactions: session.compactionCount,
    startedAt: instantText(session.sessionStartedAt),
    lastInteractionAt: instantText(session.lastInteractionAt),
    ...(session.parentKey === undefined ? {} : { parentKey: session.parentKey }),
    ...(session.subagents === undefined ? {} : { subagents: session.subagents }),
  };
}

function toBlock(session: ListedSession): Block<z.input<typeof listedSession>> {
  const shown = session.displayName === undefined ? "" : ` · ${name(session.displayName)}`;
  const children = session.subagents === undefined ? "" : ` · ${session.subagents} sub-agents`;
  const used = minuteText(session.lastInteractionAt);
  return {
    words: `- ${name(session.key)}${shown} · session ${name(session.sessionId)} · conversation ${session.conversation} · ${session.messageCount} messages${children} · last used ${used}`,
    value: sessionValue(session),
  };
}

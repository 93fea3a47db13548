/** What the tests of MCP share: a conversation worth recalling, and a client that says what it got. */
import type { Client } from "@modelcontextprotocol/client";
import { expect } from "vitest";
import type { Session, Varve } from "../../src/index.ts";

export const settings = ["legacy", "auto"] as const;

/** Fills a session with 300 messages, one of them worth finding, and compacts it. */
export async function fill(varve: Varve, key: string, secret: string): Promise<Session> {
  const session = await varve.sessions.resolve({ key });
  const messages = Array.from({ length: 300 }, (_, index) => ({
    id: `m${index}`,
    role: index % 2 === 0 ? ("user" as const) : ("assistant" as const),
    content: index === 5 ? `The vault code is ${secret}.` : `Turn ${index}. ${"We looked at the invoice. ".repeat(12)}`,
    time: Date.UTC(2026, 0, 1) + index * 60_000,
  }));
  await varve.context.ingest(session, messages);
  await varve.context.compact(session, { budgetTokens: 3000 });
  return session;
}

export interface Called {
  text: string;
  isError: boolean;
  structured: Record<string, unknown>;
}

export async function call(client: Client, name: string, input: Record<string, unknown>): Promise<Called> {
  const answer = await client.callTool({ name, arguments: input });
  const [content] = answer.content;
  const text = content?.type === "text" ? content.text : "";
  return {
    text,
    isError: answer.isError === true,
    structured: (answer.structuredContent ?? {}) as Record<string, unknown>,
  };
}

/** From a word to the message behind it: grep names it, expand opens its summary, describe shows it whole. */
export async function recallAll(client: Client, secret: string): Promise<void> {
  const found = await call(client, "lcm_grep", { pattern: secret, scope: "messages" });
  const [match] = found.structured.matches as { citation: string }[];
  expect(found.text).toContain(`**${match?.citation}**`);
  const query = { query: "vault code", conversationId: "agent:main:main" };
  const opened = await call(client, "lcm_expand", { ...query, includeMessages: true, tokenCap: 50_000 });
  const items = opened.structured.items as { citation: string; kind: string; text: string }[];
  expect(items.map((item) => item.citation)).toContain(match?.citation);
  const leaf = items.find((item) => item.kind === "leaf")?.citation;
  const summary = await call(client, "lcm_describe", { id: leaf });
  expect((summary.structured.summary as { sources: string[] }).sources).toContain(match?.citation);
  const message = await call(client, "lcm_describe", { id: match?.citation });
  expect(message.structured.text).toBe(`The vault code is ${secret}.`);
  const answer = await call(client, "lcm_expand_query", { prompt: "What is the vault code?" });
  expect(answer.structured).toMatchObject({ model: null, answer: expect.stringContaining(secret) });
  expect(answer.structured.citations).toContain(match?.citation);
}

const id = "sum_0123456789abcdef";
const faults: [tool: string, input: Record<string, unknown>, text: RegExp][] = [
  ["lcm_grep", {}, /pattern is missing[\s\S]*What to do: Send pattern/],
  ["lcm_grep", { pattern: "x", limit: 0 }, /limit 0: must be a whole number from 1 to 200/],
  ["lcm_grep", { pattern: "x", since: "soon" }, /since "soon": is no date/],
  ["lcm_grep", { pattern: "(" }, /BAD_REQUEST[\s\S]*RE2 syntax/],
  ["lcm_grep", { pattern: "x", wrong: 1 }, /no parameter "wrong"[\s\S]*Its parameters are pattern/],
  ["lcm_describe", { id: "nonsense" }, /is no citation/],
  ["lcm_describe", { id }, /NOT_FOUND/],
  ["lcm_expand", {}, /Either summaryIds or query/],
  ["lcm_expand", { summaryIds: [id], query: "x" }, /and not both/],
  ["lcm_expand_query", { prompt: 7 }, /prompt 7/],
  ["session_status", { key: "agent:main:nobody" }, /SESSION_NOT_FOUND[\s\S]*session_list/],
];

/** Bad input is answered, not thrown: a model reads what to send instead. */
export async function refuseAll(client: Client): Promise<void> {
  for (const [tool, input, text] of faults) {
    const answer = await call(client, tool, input);
    expect(answer, `${tool} ${JSON.stringify(input)}`).toMatchObject({
      isError: true,
      text: expect.stringMatching(text),
    });
    expect(answer.text).toContain("What to do:");
  }
  await expect(client.callTool({ name: "lcm_nothing", arguments: {} })).rejects.toMatchObject({ code: -32602 });
}

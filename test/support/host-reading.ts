/** Every way to read what was said, from within a session or as its principal. */
import type { Principal } from "../../src/authorization/index.ts";
import type { Session, Varve } from "../../src/index.ts";
import type { BoundTool } from "../../src/tools/index.ts";

/** Everything that a set of tools tells about a text, and about the entries of another session. */
export async function askTools(tools: readonly BoundTool[], query: string, seqs: readonly number[]): Promise<string> {
  const calls: [string, object][] = [
    ["memory_search", { query }],
    ["memory_search", { query, corpus: "sessions" }],
    ["memory_recall", { query, includeHistory: true }],
    ["memory_list", {}],
    ["lcm_grep", { pattern: query, allConversations: true, scope: "both" }],
    ["lcm_grep", { pattern: query, mode: "full_text", allConversations: true }],
    ["lcm_expand_query", { prompt: query, query, allConversations: true }],
    ["session_list", {}],
    ...seqs.flatMap((seq): [string, object][] => [
      ["memory_get", { path: `msg#${seq}` }],
      ["lcm_describe", { id: `msg#${seq}`, allConversations: true }],
    ]),
  ];
  const answers: string[] = [];
  for (const [name, input] of calls) {
    const tool = tools.find((one) => one.name === name);
    if (!tool) throw new Error(`there is no ${name}`);
    answers.push(await settle(tool.run(input)));
  }
  return answers.join("\n");
}

/** Everything that a principal reads about a text. */
async function askServices(varve: Varve, principal: Principal, agent: string, query: string): Promise<string> {
  const asked = { principal, agent };
  const limits = { memoriesMax: 10, passagesMax: 10, kinds: ["message", "summary", "chunk"] as const };
  const answers = [
    varve.search.find(query, { ...asked, limit: 20 }),
    varve.memory.recall({ query, ...asked }),
    varve.memory.list({ ...asked, limit: 50 }),
    varve.memory.recallForPrompt({ prompt: query, ...asked, ...limits, kinds: [...limits.kinds], always: true }),
    varve.context.grep({ pattern: query, allConversations: true, ...asked }),
  ].map(settle);
  return (await Promise.all(answers)).join("\n");
}

/** Everything that is read about a text from within a session: tools, search, recall, memories, assembled context. */
export async function readEverywhere(
  varve: Varve,
  session: Session,
  query: string,
  others: readonly Session[] = [],
): Promise<string> {
  const pages = await Promise.all(others.map((other) => varve.transcripts.read(other, { limit: 20 })));
  const seqs = pages.flatMap(({ entries }) => entries.map(({ seq }) => seq));
  const principal = await varve.sessions.resolvePrincipal(session);
  const view = varve.context.assemble(session, { prompt: query, budgetTokens: 8_000 });
  return [
    await askTools(await varve.tools({ session }), query, seqs),
    await askServices(varve, principal, session.agent, query),
    await settle(varve.search.find(query, { session, limit: 20 })),
    await settle(view),
  ].join("\n");
}

async function settle(answer: Promise<unknown>): Promise<string> {
  try {
    return JSON.stringify(await answer);
  } catch (error) {
    return String(error);
  }
}

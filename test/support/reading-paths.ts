/** Every way to read what was said, from within a session or as its person, for tests of what somebody may see. */
import type { Principal } from "../../src/authorization/index.ts";
import type { Session, Varve } from "../../src/index.ts";
import type { BoundTool } from "../../src/tools/index.ts";

/** What a set of tools tells about a text, and about the entries of another session. */
export async function askTools(tools: readonly BoundTool[], query: string, seqs: readonly number[]): Promise<string> {
  const calls: [string, object][] = [
    ["memory_search", { query }],
    ["memory_search", { query, corpus: "sessions" }],
    ["memory_recall", { query, includeHistory: true }],
    ["memory_list", {}],
    ["memory_stats", {}],
    ["lcm_grep", { pattern: query, allConversations: true, scope: "both" }],
    ["lcm_grep", { pattern: query, allConversations: true, scope: "files" }],
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
  return withoutEcho(answers.join("\n"), query);
}

/** What the tools of a session tell about a text, and about the entries of another one. */
export async function readByTools(varve: Varve, key: string, query: string, other?: Session): Promise<string> {
  return askTools(await varve.tools({ session: key }), query, other ? await listSeqs(varve, [other]) : []);
}

/** What a principal reads about a text. */
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

/** What is read about a text from within a session: by tools, search, recall, memories and the context of a prompt. */
export async function readEverywhere(
  varve: Varve,
  session: Session,
  query: string,
  others: readonly Session[] = [],
): Promise<string> {
  const principal = await varve.sessions.resolvePrincipal(session);
  const kinds = ["message", "summary", "memory", "chunk", "file"] as const;
  const read = [
    await askTools(await varve.tools({ session }), query, await listSeqs(varve, others)),
    await askServices(varve, principal, session.agent, query),
    await settle(varve.search.find(query, { session, limit: 20 })),
    await settle(varve.search.find(query, { session, limit: 20, kinds: [...kinds] })),
    await settle(varve.context.assemble(session, { prompt: query, budgetTokens: 8_000, record: false })),
  ];
  return withoutEcho(read.join("\n"), query);
}

async function listSeqs(varve: Varve, sessions: readonly Session[]): Promise<number[]> {
  const pages = await Promise.all(sessions.map((one) => varve.transcripts.read(one, { limit: 20 })));
  return pages.flatMap(({ entries }) => entries.map(({ seq }) => seq));
}

/** An answer may repeat what it was asked. */
function withoutEcho(text: string, query: string): string {
  return [`for ${query}`, `\`${query}\``, `"query":${JSON.stringify(query)}`, `"${query}"`, `\\"${query}\\"`].reduce(
    (rest, echo) => rest.replaceAll(echo, ""),
    text,
  );
}

async function settle(answer: Promise<unknown>): Promise<string> {
  try {
    return JSON.stringify(await answer);
  } catch (error) {
    return String(error);
  }
}

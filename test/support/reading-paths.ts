/** Every way to read from within a session, for tests of what a person may see. */
import type { Session, Varve } from "../../src/index.ts";

/** What the tools of a session tell about a text. `of` is a session whose messages are asked for by their citations. */
export async function readByTools(varve: Varve, key: string, query: string, of?: Session): Promise<string> {
  const seqs = of ? (await varve.transcripts.read(of)).entries.map((entry) => entry.seq) : [];
  const tools = await varve.tools({ session: key });
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
    ...(of ? [["session_status", { key: of.key }] as [string, object]] : []),
    ...seqs.map((seq): [string, object] => ["memory_get", { path: `msg#${seq}` }]),
    ...seqs.map((seq): [string, object] => ["lcm_describe", { id: `msg#${seq}`, allConversations: true }]),
  ];
  const answers: string[] = [];
  for (const [name, input] of calls) {
    const tool = tools.find((one) => one.name === name);
    if (!tool) throw new Error(`there is no ${name}`);
    try {
      answers.push(JSON.stringify(await tool.run(input)));
    } catch (error) {
      answers.push(String(error));
    }
  }
  // An answer may repeat what it was asked.
  return [query, of?.key ?? ""]
    .filter((asked) => asked !== "")
    .reduce((text, asked) => withoutEcho(text, asked), answers.join("\n"));
}

function withoutEcho(text: string, asked: string): string {
  return text.replaceAll(`for ${asked}`, "").replaceAll(`"${asked}"`, "").replaceAll(`\`${asked}\``, "");
}

/** What a person can read about a text by every path: tools, search, recall, memories, and the context of a prompt. */
export async function readAsPerson(varve: Varve, session: Session, query: string, of?: Session): Promise<string> {
  const { agent } = session;
  const principal = await varve.sessions.resolvePrincipal(session);
  const kinds = ["message", "summary", "memory", "chunk", "file"] as const;
  const read = await Promise.all([
    readByTools(varve, session.key, query, of),
    varve.search.find(query, { session, kinds: [...kinds] }),
    varve.search.find(query, { agent, principal }),
    varve.memory.recall({ query, agent, principal }),
    varve.memory.list({ agent, principal }),
    varve.context.assemble(session, { prompt: query, budgetTokens: 8_000, record: false }),
    varve.context.grep({ session, principal, pattern: query, allConversations: true }),
  ]);
  const text = read.map((one) => (typeof one === "string" ? one : JSON.stringify(one))).join("\n");
  return text.replaceAll(`"query":${JSON.stringify(query)}`, "");
}

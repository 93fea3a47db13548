import { listSharedScopes, owner, resolveVisibility } from "../authorization/index.ts";
import { VarveError } from "../domain/index.ts";
import type { Session } from "../session/index.ts";
import { type CommandUsers, mayUse, refusal, type Sender } from "./command-access.ts";
import { countInbox } from "./inbox.ts";
import { chooseRunners } from "./runners/choose.ts";
import type { TurnServices } from "./turn.ts";
import { resolveWindow } from "./window.ts";

export interface Command {
  name: keyof typeof commands;
  rest: string;
}

interface CommandCall {
  services: TurnServices;
  session: Session;
  rest: string;
  sender: Sender;
  signal: AbortSignal;
}

type Run = (call: CommandCall) => Promise<string>;

const found = 8;

/** The commands of a chat. `/new` and `/reset` are handled by the session module. */
export const commands = {
  compact: { users: "owners", takes: "[instructions]", does: "summarise the conversation now", run: compact },
  status: { users: "everybody", takes: "", does: "show the model, its window, the session and the queue", run: status },
  recall: { users: "everybody", takes: "<query>", does: "search memory and history", run: recall },
  remember: {
    users: "own chat",
    takes: "[--shared] <text>",
    does: "store something in memory; owners may share it with everybody who uses the agent",
    run: remember,
  },
  forget: { users: "own chat", takes: "<query>", does: "forget the memory that matches", run: forget },
  context: { users: "everybody", takes: "", does: "show what the model sees of the conversation", run: context },
  help: { users: "everybody", takes: "", does: "show this list", run: async ({ sender }) => help(sender) },
} satisfies Record<string, { users: CommandUsers; takes: string; does: string; run: Run }>;

/** The commands that start a new session. */
export const resetUsers = { new: "own chat", reset: "own chat" } satisfies Record<"new" | "reset", CommandUsers>;

export function getUsers({ name }: Command): CommandUsers {
  return commands[name].users;
}

export function findCommand(text: string): Command | undefined {
  const [, name = "", rest = ""] = /^\s*\/([a-z]+)(?:\s+([\s\S]*))?$/i.exec(text) ?? [];
  const known = name.toLowerCase();
  return Object.hasOwn(commands, known) ? { name: known as Command["name"], rest: rest.trim() } : undefined;
}

/** A failing command replies with the reason; the turn itself does not fail. */
export async function runCommand(
  services: TurnServices,
  session: Session,
  { name, rest }: Command,
  { sender, signal }: Pick<CommandCall, "sender" | "signal">,
): Promise<string> {
  try {
    return await commands[name].run({ services, session, rest, sender, signal });
  } catch (error) {
    if (!(error instanceof VarveError)) throw error;
    return [error.message, error.remedy].filter(Boolean).join(" ");
  }
}

/** Lists the commands that the sender may use. */
function help(sender: Sender): string {
  const resets = [
    { name: "new", takes: "[text]", does: "start a new session in the same conversation", users: resetUsers.new },
    { name: "reset", takes: "[text]", does: "archive the conversation and start a new one", users: resetUsers.reset },
  ];
  const own = Object.entries(commands).map(([name, command]) => ({ name, ...command }));
  return [...resets, ...own]
    .filter(({ users }) => mayUse(users, sender))
    .map(({ name, takes, does }) => `/${name}${takes === "" ? "" : ` ${takes}`}: ${does}`)
    .join("\n");
}

async function compact({ services, session, rest: instructions, signal }: CommandCall): Promise<string> {
  const result = await services.context.compact(session, { ...(instructions === "" ? {} : { instructions }), signal });
  if (result.status === "nothing") return "There is nothing to compact yet.";
  if (result.status === "cancelled") return `The compaction was cancelled: ${result.because ?? "no reason is given"}.`;
  const because = result.because === undefined ? "" : ` (${result.because})`;
  return `Compacted: ${result.tokensBefore} → ${result.tokensAfter} tokens, ${result.leafPasses + result.condensedPasses} summaries${because}.`;
}

async function status({ services, session }: CommandCall): Promise<string> {
  const [runner] = chooseRunners(services, session);
  const queue = await countInbox(services.store);
  const lines = [
    `Session: ${session.key} (${session.sessionId})`,
    `Messages: ${session.messageCount}, compactions: ${session.compactionCount}`,
    `Tokens: ${session.inputTokens} in, ${session.outputTokens} out`,
    `Runner: ${runner?.name ?? "none"}${runner?.model === undefined ? "" : `, model ${runner.model}`}`,
  ];
  try {
    const window = resolveWindow(services.config, runner?.model);
    lines.push(`Context: ${session.contextTokens} of ${window.tokens} tokens (${window.because})`);
    if (window.warning !== undefined) lines.push(window.warning);
  } catch (error) {
    if (!(error instanceof VarveError)) throw error;
    lines.push(error.message);
  }
  lines.push(`Queue: ${queue.waiting ?? 0} waiting, ${queue.running ?? 0} running`);
  return lines.join("\n");
}

async function recall({ services, session, rest: query }: CommandCall): Promise<string> {
  if (query === "") return "Say what to look for: /recall <query>";
  const asked = { agent: session.agent, principal: await services.sessions.resolvePrincipal(session), limit: found };
  const [memories, passages] = await Promise.all([
    services.memory.recall({ ...asked, query }),
    services.search.find(query, { ...asked, kinds: ["message", "summary", "chunk", "file"] }),
  ]);
  const lines = [
    ...memories.hits.map(({ memory }) => line(memory.abstract, memory.id)),
    ...passages.results.map(({ snippet, citation }) => line(snippet, citation)),
  ];
  return lines.length === 0 ? "Nothing fits that." : lines.join("\n");
}

function line(text: string, citation: string): string {
  return `- ${text.replace(/\s+/g, " ").trim().slice(0, 300)} [${citation}]`;
}

async function remember({ services, session, rest, sender }: CommandCall): Promise<string> {
  const [, shared, text = ""] = /^(--shared\b)?\s*([\s\S]*)$/.exec(rest) ?? [];
  if (text === "") return "Say what to remember: /remember <text>";
  if (shared !== undefined && !sender.isOwner) return refusal;
  const { agent } = session;
  // What is shared is for everybody who uses the agent; the owner may write there from any chat.
  const principal = shared === undefined ? await services.sessions.resolvePrincipal(session) : owner;
  const scope = shared === undefined ? {} : { scope: listSharedScopes(services.config, agent)[0] };
  const { current } = await services.memory.add({ text, session, agent, principal, ...scope });
  return `Kept: ${current.abstract} [${current.id}]`;
}

async function forget({ services, session, rest: query }: CommandCall): Promise<string> {
  if (query === "") return "Say what to forget: /forget <query>";
  const principal = await services.sessions.resolvePrincipal(session);
  const { writableScopes } = resolveVisibility(services.config, { principal, agent: session.agent });
  const what = { query, ...(writableScopes === undefined ? {} : { scopes: [...writableScopes] }) };
  const { memories: forgotten } = await services.memory.forget(what, { agent: session.agent, principal });
  return forgotten.length === 0 ? "No memory fits that." : `Forgotten: ${forgotten.join(", ")}. Their history is kept.`;
}

async function context({ services, session }: CommandCall): Promise<string> {
  const { summaries, summaryTokens, rawTokens } = await services.context.overview(session);
  return `${summaries.length} summaries (${summaryTokens} tokens) cover the earlier messages; ${rawTokens} tokens of messages follow them.`;
}

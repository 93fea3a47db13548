import { VarveError } from "../domain/index.ts";
import type { Session } from "../session/index.ts";
import { countInbox } from "./inbox.ts";
import { chooseRunners } from "./runners/choose.ts";
import type { TurnServices } from "./turn.ts";
import { resolveWindow } from "./window.ts";

export interface Command {
  name: keyof typeof commands;
  rest: string;
}

type Run = (services: TurnServices, session: Session, rest: string, signal: AbortSignal) => Promise<string>;

const found = 8;

/** The commands of a chat. `/new` and `/reset` are handled by the session module. */
const commands = {
  compact: { takes: "[instructions]", does: "summarise the conversation now", run: compact },
  status: { takes: "", does: "show the model, its window, the session and the queue", run: status },
  recall: { takes: "<query>", does: "search memory and history", run: recall },
  remember: { takes: "<text>", does: "store something in memory", run: remember },
  forget: { takes: "<query>", does: "forget the memory that matches", run: forget },
  context: { takes: "", does: "show what the model sees of the conversation", run: context },
  help: { takes: "", does: "show this list", run: async () => help() },
} satisfies Record<string, { takes: string; does: string; run: Run }>;

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
  signal: AbortSignal,
): Promise<string> {
  try {
    return await commands[name].run(services, session, rest, signal);
  } catch (error) {
    if (!(error instanceof VarveError)) throw error;
    return [error.message, error.remedy].filter(Boolean).join(" ");
  }
}

function help(): string {
  const own = Object.entries(commands).map(
    ([name, { takes, does }]) => `/${name}${takes === "" ? "" : ` ${takes}`}: ${does}`,
  );
  return [
    "/new [text]: start a new session in the same conversation",
    "/reset [text]: archive the conversation and start a new one",
    ...own,
  ].join("\n");
}

async function compact(
  services: TurnServices,
  session: Session,
  instructions: string,
  signal: AbortSignal,
): Promise<string> {
  const result = await services.context.compact(session, { ...(instructions === "" ? {} : { instructions }), signal });
  if (result.status === "nothing") return "There is nothing to compact yet.";
  if (result.status === "cancelled") return `The compaction was cancelled: ${result.because ?? "no reason is given"}.`;
  const because = result.because === undefined ? "" : ` (${result.because})`;
  return `Compacted: ${result.tokensBefore} → ${result.tokensAfter} tokens, ${result.leafPasses + result.condensedPasses} summaries${because}.`;
}

async function status(services: TurnServices, session: Session): Promise<string> {
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

async function recall(services: TurnServices, session: Session, query: string): Promise<string> {
  if (query === "") return "Say what to look for: /recall <query>";
  const { agent } = session;
  const [memories, passages] = await Promise.all([
    services.memory.recall({ query, limit: found, agent }),
    services.search.find(query, { agent, limit: found, kinds: ["message", "summary", "chunk", "file"] }),
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

async function remember(services: TurnServices, session: Session, text: string): Promise<string> {
  if (text === "") return "Say what to remember: /remember <text>";
  const { current } = await services.memory.add({ text, session, agent: session.agent });
  return `Kept: ${current.abstract} [${current.id}]`;
}

async function forget(services: TurnServices, session: Session, query: string): Promise<string> {
  if (query === "") return "Say what to forget: /forget <query>";
  const { memories: forgotten } = await services.memory.forget({ query }, { agent: session.agent });
  return forgotten.length === 0 ? "No memory fits that." : `Forgotten: ${forgotten.join(", ")}. Their history is kept.`;
}

async function context(services: TurnServices, session: Session): Promise<string> {
  const { summaries, summaryTokens, rawTokens } = await services.context.overview(session);
  return `${summaries.length} summaries (${summaryTokens} tokens) cover the earlier messages; ${rawTokens} tokens of messages follow them.`;
}

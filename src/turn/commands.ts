import { VarveError } from "../domain/index.ts";
import type { Session } from "../session/index.ts";
import type { Found, TurnHost } from "./host.ts";
import { countInbox } from "./inbox.ts";
import { chooseRunners } from "./runners/choose.ts";
import { resolveWindow } from "./window.ts";

export interface Command {
  name: keyof typeof commands;
  rest: string;
}

type Run = (host: TurnHost, session: Session, rest: string, signal: AbortSignal) => Promise<string>;

const found = 8;

/** What can be said to Varve itself in a chat. `/new` and `/reset` are the session's own and do not come here. */
const commands = {
  compact: { takes: "[instructions]", does: "summarise the conversation now", run: compact },
  status: { takes: "", does: "the model, its window, the session and the queue", run: status },
  recall: { takes: "<query>", does: "what memory and history hold about something", run: recall },
  remember: { takes: "<text>", does: "keep something in memory", run: remember },
  forget: { takes: "<query>", does: "forget the memories that fit", run: forget },
  context: { takes: "", does: "what the model sees of the conversation", run: context },
  help: { takes: "", does: "this list", run: async () => help() },
} satisfies Record<string, { takes: string; does: string; run: Run }>;

export function findCommand(text: string): Command | undefined {
  const [, name = "", rest = ""] = /^\s*\/([a-z]+)(?:\s+([\s\S]*))?$/i.exec(text) ?? [];
  const known = name.toLowerCase();
  return Object.hasOwn(commands, known) ? { name: known as Command["name"], rest: rest.trim() } : undefined;
}

/** A command that fails says why; it is no failure of the turn. */
export async function runCommand(
  host: TurnHost,
  session: Session,
  { name, rest }: Command,
  signal: AbortSignal,
): Promise<string> {
  try {
    return await commands[name].run(host, session, rest, signal);
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
    "/new [text]: a new session in the same conversation",
    "/reset [text]: archive the conversation and begin anew",
    ...own,
  ].join("\n");
}

async function compact(host: TurnHost, session: Session, instructions: string, signal: AbortSignal): Promise<string> {
  const result = await host.context.compact(session, { ...(instructions === "" ? {} : { instructions }), signal });
  if (result.status === "nothing") return "There is nothing to compact yet.";
  const because = result.because === undefined ? "" : ` (${result.because})`;
  return `Compacted: ${result.tokensBefore} → ${result.tokensAfter} tokens, ${result.leafPasses + result.condensedPasses} summaries${because}.`;
}

async function status(host: TurnHost, session: Session): Promise<string> {
  const [runner] = chooseRunners(host, session);
  const queue = await countInbox(host);
  const lines = [
    `Session: ${session.key} (${session.sessionId})`,
    `Messages: ${session.messageCount}, compactions: ${session.compactionCount}`,
    `Tokens: ${session.inputTokens} in, ${session.outputTokens} out`,
    `Runner: ${runner?.name ?? "none"}${runner?.model === undefined ? "" : `, model ${runner.model}`}`,
  ];
  try {
    const window = resolveWindow(host.config, runner?.model);
    lines.push(`Context: ${session.contextTokens} of ${window.tokens} tokens (${window.because})`);
    if (window.warning !== undefined) lines.push(window.warning);
  } catch (error) {
    if (!(error instanceof VarveError)) throw error;
    lines.push(error.message);
  }
  lines.push(`Queue: ${queue.waiting ?? 0} waiting, ${queue.running ?? 0} running`);
  return lines.join("\n");
}

async function recall(host: TurnHost, session: Session, query: string): Promise<string> {
  if (query === "") return "Say what to look for: /recall <query>";
  const [memories, passages] = await Promise.all([
    host.memory.recall(session.agent, query, found),
    host.find(session.agent, query, found),
  ]);
  const lines = [...memories, ...passages].map(line);
  return lines.length === 0 ? "Nothing fits that." : lines.join("\n");
}

function line({ text, citation }: Found): string {
  return `- ${text.replace(/\s+/g, " ").trim().slice(0, 300)} [${citation}]`;
}

async function remember(host: TurnHost, session: Session, text: string): Promise<string> {
  if (text === "") return "Say what to remember: /remember <text>";
  const memory = await host.memory.remember(session, text);
  return `Kept: ${memory.text} [${memory.id}]`;
}

async function forget(host: TurnHost, session: Session, query: string): Promise<string> {
  if (query === "") return "Say what to forget: /forget <query>";
  const forgotten = await host.memory.forget(session.agent, query);
  return forgotten.length === 0 ? "No memory fits that." : `Forgotten: ${forgotten.join(", ")}. Their history is kept.`;
}

async function context(host: TurnHost, session: Session): Promise<string> {
  const { summaries, summaryTokens, rawTokens } = await host.context.overview(session);
  return `${summaries.length} summaries (${summaryTokens} tokens) stand for what came before; ${rawTokens} tokens of messages stand behind them.`;
}

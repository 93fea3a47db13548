import { createInterface, type Interface } from "node:readline";
import { styleText } from "node:util";
import { showControls, VarveError } from "../../domain/index.ts";
import { openVarve, type TurnResult, type Varve, version } from "../../index.ts";
import { readHistory, writeHistory } from "../chat/history.ts";
import { plainScreen, type Screen, terminalScreen } from "../chat/screen.ts";
import { auditCommand } from "../command-audit.ts";
import { type CommonOptions, openOptions, printWarnings } from "../context.ts";
import { outputFor } from "../output.ts";

export interface ChatFlags extends CommonOptions {
  session?: string;
}

interface Chat {
  varve: Varve;
  session: string;
  screen: Screen;
  results: TurnResult[];
}

const exitCommands = new Set(["/quit", "/exit"]);

/** Sends one message from the command line, or chats in a terminal, or answers every line of a pipe. */
export async function chatCommand(words: string[], flags: ChatFlags): Promise<void> {
  const varve = await openVarve({ ...openOptions(flags), background: true });
  printWarnings(varve);
  try {
    await auditCommand(varve, () => runChat(varve, words, flags));
  } finally {
    await varve.close();
  }
}

async function runChat(varve: Varve, words: string[], flags: ChatFlags): Promise<void> {
  const output = outputFor(flags);
  const { config } = varve.settings;
  const session = flags.session ?? `agent:${config.agent}:${config.session.mainKey}`;
  const isTerminal = Boolean(process.stdin.isTTY && process.stdout.isTTY) && !output.json;
  const screen = output.json
    ? silentScreen
    : process.stdout.isTTY
      ? terminalScreen(process.stdout)
      : plainScreen(process.stdout);
  const chat: Chat = { varve, session, screen, results: [] };
  varve.turns.start();
  if (words.length > 0) await sendMessage(chat, words.join(" "));
  else if (isTerminal) await converse(chat);
  else await answerLines(chat);
  output.result(words.length > 0 ? chat.results[0] : { session, turns: chat.results });
  if (chat.results.at(-1)?.status === "failed") process.exitCode = 1;
}

const silentScreen: Screen = { event: () => undefined, end: () => undefined };

async function sendMessage(chat: Chat, text: string): Promise<void> {
  const { varve, session, screen } = chat;
  const began = performance.now();
  const result = await varve.turns.send(
    { session, owner: true, text, debounceMs: 0 },
    { onEvent: (event) => screen.event(event) },
  );
  screen.end(result, (performance.now() - began) / 1000);
  chat.results.push(result);
}

/** Sends every line of standard input as a message. */
async function answerLines(chat: Chat): Promise<void> {
  for await (const line of createInterface({ input: process.stdin })) {
    if (exitCommands.has(line.trim())) return;
    if (line.trim() !== "") await sendMessage(chat, line);
  }
}

async function converse(chat: Chat): Promise<void> {
  const { varve, session } = chat;
  const { home } = varve.settings;
  const dim = (text: string): string => styleText("dim", text);
  process.stdout.write(
    `${styleText("bold", `Varve ${version}`)} ${dim(`· ${session} · /help for commands, Ctrl-D to exit`)}\n`,
  );
  const lines = createInterface({
    input: process.stdin,
    output: process.stdout,
    history: readHistory(home),
    historySize: 1_000,
    removeHistoryDuplicates: true,
    completer: (text: string) => [commandNames.filter((name) => name.startsWith(text)), text] as [string[], string],
  });
  lines.on("history", (history) => writeHistory(home, history));
  let isAnswering = false;
  lines.on("SIGINT", () => {
    if (!isAnswering) return lines.close();
    // Stops the reply; the part that was received is kept in the transcript.
    varve.turns.interrupt(session);
  });
  for (;;) {
    const text = await readMessage(lines);
    if (text === undefined || exitCommands.has(text.trim())) break;
    if (text.trim() === "") continue;
    isAnswering = true;
    try {
      await sendMessage(chat, text);
    } catch (error) {
      if (!(error instanceof VarveError)) throw error;
      process.stdout.write(`${styleText("red", showControls(error.message))}\n${error.remedy ?? ""}\n`);
    }
    isAnswering = false;
  }
  lines.close();
}

const commandNames = [
  "/new",
  "/reset",
  "/compact",
  "/status",
  "/recall",
  "/remember",
  "/forget",
  "/context",
  "/help",
  "/quit",
];

/** Reads one message; a line that ends with a backslash continues on the next. Undefined when the input is closed. */
async function readMessage(lines: Interface): Promise<string | undefined> {
  let text = "";
  for (;;) {
    const line = await new Promise<string | undefined>((resolve) => {
      const onClose = (): void => resolve(undefined);
      lines.once("close", onClose);
      lines.question(styleText("cyan", text === "" ? "› " : "… "), (answer) => {
        lines.off("close", onClose);
        resolve(answer);
      });
    });
    if (line === undefined) return undefined;
    if (!line.endsWith("\\")) return text + line;
    text += `${line.slice(0, -1)}\n`;
  }
}

import { spawn } from "node:child_process";
import { getParts, type Message, redactSecrets, VarveError } from "../../domain/index.ts";
import type { RunRequest } from "./port.ts";

export interface ProgramRun {
  program: string;
  args: readonly string[];
  input: string;
  cwd?: string;
  env?: Record<string, string>;
  signal: AbortSignal;
  onOutput?(text: string): void;
}

/** More than any reply; endless output must not fill the memory. */
const outputBytesMax = 32 * 1024 * 1024;
const errorShown = 2_000;

/** Runs a program with a text on its standard input and returns its output. */
export async function runProgram(run: ProgramRun): Promise<{ output: string; errors: string }> {
  const { program, args, signal } = run;
  const child = spawn(program, args, {
    cwd: run.cwd,
    env: { ...process.env, ...run.env },
    stdio: ["pipe", "pipe", "pipe"],
    signal,
    killSignal: "SIGTERM",
  });
  let output = "";
  let errors = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    output += text;
    if (output.length > outputBytesMax) child.kill("SIGKILL");
    run.onOutput?.(text);
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    errors = (errors + text).slice(-errorShown);
  });
  // A program may close its input early; its output is what counts.
  child.stdin.on("error", () => undefined);
  child.stdin.end(run.input);
  const code = await new Promise<number | NodeJS.Signals | null>((resolve, reject) => {
    child.on("error", (error) => reject(signal.aborted ? signal.reason : notStarted(program, error)));
    child.on("close", (exitCode, killed) => resolve(exitCode ?? killed));
  });
  signal.throwIfAborted();
  if (output.length > outputBytesMax) {
    throw failed(program, `wrote more than ${outputBytesMax} bytes and was ended.`, code, errors);
  }
  if (code !== 0) throw failed(program, `ended with ${code}.`, code, errors);
  return { output, errors };
}

function notStarted(program: string, cause: Error): VarveError {
  const missing = "code" in cause && cause.code === "ENOENT";
  return new VarveError("BAD_CONFIG", missing ? `There is no program ${program}.` : `${program} cannot be started.`, {
    remedy: "Install it, or name it by its whole path in the settings under turn.",
    cause,
  });
}

function failed(program: string, what: string, code: unknown, errors: string): VarveError {
  const said = redactSecrets(errors.trim());
  return new VarveError("MODEL_FAILED", `${program} ${what}${said === "" ? "" : ` It said: ${said}`}`, {
    remedy: "Run it by hand with a short text on its standard input to see what is wrong.",
    details: { code: typeof code === "number" || typeof code === "string" ? code : "unknown" },
  });
}

/** The conversation as one text, for programs that take only that: the newest messages and the prompt. */
export function onePrompt({ messages, prompt, asked }: RunRequest, historyLimit: number): string {
  const before = messages.filter((message) => message.id === undefined || !asked.has(message.id));
  const history = before.map(formatLine).filter((line) => line !== "");
  const left = Math.max(0, history.length - historyLimit);
  const shown = history.slice(left);
  if (shown.length === 0) return prompt;
  const note = left > 0 ? ` (the newest ${shown.length} of ${history.length})` : "";
  return `Conversation so far${note}:\n\n${shown.join("\n\n")}\n\nReply to this message:\n\n${prompt}`;
}

function formatLine(message: Message): string {
  const text = getParts(message)
    .map((part) => (part.type === "text" ? part.text : part.type === "tool_call" ? `[used ${part.name}]` : ""))
    .filter(Boolean)
    .join("\n");
  if (text === "") return "";
  const who = message.role === "assistant" ? "Assistant" : (message.name ?? "User");
  return `${who}: ${text}`;
}

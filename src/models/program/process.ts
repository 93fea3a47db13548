import { type ChildProcess, spawn } from "node:child_process";
import type { Environment } from "../../config/index.ts";
import { redactSecrets, VarveError } from "../../domain/index.ts";

export interface ProgramRun {
  program: string;
  args: readonly string[];
  /** Written to standard input, which is then closed. */
  input: string;
  cwd?: string;
  /** The whole environment of the program. Default: that of this process. */
  env?: Environment;
  signal?: AbortSignal;
  onOutput?(text: string): void;
  /** The program is ended when it writes more characters than this. */
  outputMax?: number;
  /** How long the program may take to end by itself after an abort. */
  killDelayMs?: number;
  /** The remedy when the program cannot be started. */
  remedy?: string;
}

export interface ProgramResult {
  /** The exit code, or the signal that ended the program. */
  code: number | NodeJS.Signals | null;
  output: string;
  /** The end of standard error. */
  errors: string;
}

/** More than any reply; endless output must not fill the memory. */
const outputMaxDefault = 32 * 1024 * 1024;
const killDelayMsDefault = 2_000;
const errorShown = 2_000;
/** Windows has no process groups; there only the program itself is ended. */
const hasGroups = process.platform !== "win32";
const running = new Set<ChildProcess>();

/**
 * Runs a program with a text on its standard input, without a shell, in a process group of its own. An abort ends the
 * whole group, and the promise rejects with the signal's reason once the program has ended.
 */
export async function runProcess(run: ProgramRun): Promise<ProgramResult> {
  const { program, signal, outputMax = outputMaxDefault } = run;
  signal?.throwIfAborted();
  const child = spawn(program, [...run.args], {
    cwd: run.cwd,
    env: { ...(run.env ?? process.env) },
    stdio: ["pipe", "pipe", "pipe"],
    detached: hasGroups,
    windowsHide: true,
  });
  const stop = () => endGroup(child, run.killDelayMs ?? killDelayMsDefault);
  let output = "";
  let errors = "";
  let isTooLong = false;
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    if (isTooLong) return;
    output += text;
    isTooLong = output.length > outputMax;
    if (isTooLong) stop();
    run.onOutput?.(text);
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    errors = (errors + text).slice(-errorShown);
  });
  // A program may close its input early; its output is what counts.
  child.stdin.on("error", () => undefined);
  child.stdin.end(run.input);
  endWithThisProcess(child);
  signal?.addEventListener("abort", stop, { once: true });
  const code = await new Promise<ProgramResult["code"]>((resolve, reject) => {
    child.on("error", (error) => reject(notStartedError(run, error)));
    child.on("close", (exitCode, killed) => resolve(exitCode ?? killed));
  }).finally(() => {
    signal?.removeEventListener("abort", stop);
    running.delete(child);
  });
  signal?.throwIfAborted();
  if (isTooLong) throw failedError(program, `wrote more than ${outputMax} characters and was ended.`, code, errors);
  return { code, output, errors };
}

/** Like `runProcess`; an exit code other than 0 is an error that quotes standard error. */
export async function runProgram(run: ProgramRun): Promise<{ output: string; errors: string }> {
  const { code, output, errors } = await runProcess(run);
  if (code !== 0) throw failedError(run.program, `ended with ${code}.`, code, errors);
  return { output, errors };
}

/** Asks the group to end, and kills what is left when the program has ended or the time is up. */
function endGroup(child: ChildProcess, killDelayMs: number): void {
  const kill = () => signalGroup(child, "SIGKILL");
  child.once("exit", kill);
  const timer = setTimeout(() => {
    kill();
    // A process that left the group may still have them open.
    child.stdout?.destroy();
    child.stderr?.destroy();
  }, killDelayMs);
  child.once("close", () => clearTimeout(timer));
  signalGroup(child, "SIGTERM");
}

function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(hasGroups ? -pid : pid, signal);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    // It has ended. macOS answers EPERM for a group of which only unreaped processes are left.
    if (code !== "ESRCH" && code !== "EPERM") throw error;
  }
}

/** A group of its own does not get the terminal's signals, so it is ended when this process exits. */
function endWithThisProcess(child: ChildProcess): void {
  if (running.size === 0) {
    process.off("exit", endAll);
    process.on("exit", endAll);
  }
  running.add(child);
}

function endAll(): void {
  for (const child of running) signalGroup(child, "SIGTERM");
}

function notStartedError({ program, remedy }: ProgramRun, cause: Error): VarveError {
  const missing = "code" in cause && cause.code === "ENOENT";
  return new VarveError("BAD_CONFIG", missing ? `There is no program ${program}.` : `${program} cannot be started.`, {
    remedy: remedy ?? "Install it, or name it by its whole path in the settings.",
    cause,
  });
}

function failedError(program: string, what: string, code: ProgramResult["code"], errors: string): VarveError {
  const said = redactSecrets(errors.trim());
  return new VarveError("MODEL_FAILED", `${program} ${what}${said === "" ? "" : ` It said: ${said}`}`, {
    remedy: "Run it by hand with a short text on its standard input to see what is wrong.",
    details: { code: code ?? "unknown" },
  });
}

import { type ExecFileException, execFile } from "node:child_process";
import { z } from "zod";
import type { Environment } from "../../config/index.ts";
import { type Clock, VarveError } from "../../domain/index.ts";
import { computeRenewalTime, type Token } from "./port.ts";
import { isCredential, quoteSafely } from "./quote.ts";

export interface CommandSettings {
  /** The name of the profile, for messages. */
  name: string;
  command: string | readonly string[];
  refreshMs?: number;
  timeoutMs: number;
  env: Environment;
  clock: Clock;
}

const outputBytesMax = 256 * 1024;
const answer = z.object({ token: z.string(), expiresAt: z.union([z.number(), z.string()]).optional() });

/** Runs a program that prints a key: the key alone, or `{"token": …, "expiresAt": …}`. No shell is involved. */
export async function runTokenCommand(settings: CommandSettings): Promise<Token> {
  const { name, command, refreshMs, clock } = settings;
  const [program = "", ...args] = typeof command === "string" ? command.trim().split(/\s+/) : command;
  const printed = (await runProgram(settings, program, args)).trim();
  const { token, expiresAt } = printed.startsWith("{") ? parseOutput(name, program, printed) : { token: printed };
  if (!isCredential(token)) throw badOutputError(name, program, token === "" ? "nothing" : "more than one word");
  const now = clock.now();
  const ends = [
    ...(refreshMs === undefined ? [] : [now + refreshMs]),
    ...(expiresAt === undefined ? [] : [computeRenewalTime(now, expiresAt)]),
  ];
  return {
    value: token,
    ...(expiresAt === undefined ? {} : { expiresAt }),
    ...(ends.length === 0 ? {} : { renewAt: Math.min(...ends) }),
  };
}

function runProgram(
  { name, timeoutMs, env }: CommandSettings,
  program: string,
  args: readonly string[],
): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const options = { timeout: timeoutMs, killSignal: "SIGKILL", maxBuffer: outputBytesMax, windowsHide: true } as const;
  const child = execFile(
    program,
    [...args],
    { ...options, env: { ...env }, encoding: "utf8" },
    (error, out, errorOutput) => {
      if (error === null) resolve(out);
      else reject(commandError(name, program, timeoutMs, error, errorOutput));
    },
  );
  // A program that prompts for a password would wait forever.
  child.stdin?.on("error", () => undefined);
  child.stdin?.end();
  return promise;
}

/**
 * Standard output may contain the key, so only standard error is quoted. The original error contains both, so it is not
 * kept as the cause.
 */
function commandError(
  name: string,
  program: string,
  timeoutMs: number,
  { code, killed, signal }: ExecFileException,
  stderr: string,
): VarveError {
  const remedy = `Run the command of models.auth.${name} by hand, in the environment of Varve, to see the problem.`;
  if (typeof code === "string" && code !== "ERR_CHILD_PROCESS_STDIO_MAXBUFFER") {
    const why = code === "ENOENT" ? `There is no program ${program}` : `${program} cannot be started (${code})`;
    return new VarveError("BAD_CONFIG", `${why}; it should print the key of the profile ${name}.`, {
      remedy: `Use its full path in models.auth.${name}.command.`,
    });
  }
  const errorOutput = quoteSafely(stderr);
  const what =
    code === "ERR_CHILD_PROCESS_STDIO_MAXBUFFER"
      ? `printed more than ${outputBytesMax} bytes`
      : killed
        ? `did not finish within ${timeoutMs} ms`
        : `exited with ${code ?? signal}`;
  return new VarveError(
    "MODEL_FAILED",
    `${program}, which should print the key of the profile ${name}, ${what}.${errorOutput === "" ? "" : ` Its error output: ${errorOutput}`}`,
    { remedy, details: { profile: name } },
  );
}

function parseOutput(name: string, program: string, printed: string): { token: string; expiresAt?: number } {
  let json: unknown;
  try {
    json = JSON.parse(printed);
  } catch {
    // The parser's message would quote the output, which may contain the key.
    throw badOutputError(name, program, "something that is not JSON");
  }
  const known = answer.safeParse(json);
  if (!known.success) throw badOutputError(name, program, "JSON without a token");
  const { token, expiresAt: at } = known.data;
  if (at === undefined) return { token };
  const expiresAt = typeof at === "number" ? at : Date.parse(at);
  if (!Number.isFinite(expiresAt)) throw badOutputError(name, program, "an expiresAt that is not a time");
  // A small number is in seconds, as most tools write it.
  return { token, expiresAt: typeof at === "number" && at < 1e11 ? at * 1_000 : expiresAt };
}

function badOutputError(name: string, program: string, what: string): VarveError {
  return new VarveError("BAD_CONFIG", `${program} printed ${what} instead of the key of the profile ${name}.`, {
    remedy: 'It must print only the key, or {"token": "…", "expiresAt": "…"}.',
  });
}

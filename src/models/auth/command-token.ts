import { type ExecFileException, execFile } from "node:child_process";
import { z } from "zod";
import type { Environment } from "../../config/index.ts";
import { type Clock, VarveError } from "../../domain/index.ts";
import { renewalOf, type Token } from "./port.ts";
import { isCredential, quote } from "./quote.ts";

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

/** Runs a program that prints a key: the key alone, or `{"token": …, "expiresAt": …}`. No shell has a part in it. */
export async function tokenByCommand(settings: CommandSettings): Promise<Token> {
  const { name, command, refreshMs, clock } = settings;
  const [program = "", ...args] = typeof command === "string" ? command.trim().split(/\s+/) : command;
  const printed = (await run(settings, program, args)).trim();
  const { token, expiresAt } = printed.startsWith("{") ? parsed(name, program, printed) : { token: printed };
  if (!isCredential(token)) throw useless(name, program, token === "" ? "nothing" : "more than one word");
  const now = clock.now();
  const ends = [
    ...(refreshMs === undefined ? [] : [now + refreshMs]),
    ...(expiresAt === undefined ? [] : [renewalOf(now, expiresAt)]),
  ];
  return {
    value: token,
    ...(expiresAt === undefined ? {} : { expiresAt }),
    ...(ends.length === 0 ? {} : { renewAt: Math.min(...ends) }),
  };
}

function run({ name, timeoutMs, env }: CommandSettings, program: string, args: readonly string[]): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const options = { timeout: timeoutMs, killSignal: "SIGKILL", maxBuffer: outputBytesMax, windowsHide: true } as const;
  const child = execFile(program, [...args], { ...options, env: { ...env }, encoding: "utf8" }, (error, out, said) => {
    if (error === null) resolve(out);
    else reject(failed(name, program, timeoutMs, error, said));
  });
  // A program that asks for a password would wait for ever.
  child.stdin?.on("error", () => undefined);
  child.stdin?.end();
  return promise;
}

/** What it printed is a key or a part of one, so only what it complained of is quoted; nor is the error kept: it holds both. */
function failed(
  name: string,
  program: string,
  timeoutMs: number,
  { code, killed, signal }: ExecFileException,
  stderr: string,
): VarveError {
  const remedy = `Run the command of models.auth.${name} by hand, in the environment of Varve, to see what is wrong.`;
  if (typeof code === "string" && code !== "ERR_CHILD_PROCESS_STDIO_MAXBUFFER") {
    const why = code === "ENOENT" ? `There is no program ${program}` : `${program} cannot be started (${code})`;
    return new VarveError("BAD_CONFIG", `${why}, which is to print the key of the profile ${name}.`, {
      remedy: `Name it by its whole path in models.auth.${name}.command.`,
    });
  }
  const said = quote(stderr);
  const what =
    code === "ERR_CHILD_PROCESS_STDIO_MAXBUFFER"
      ? `printed more than ${outputBytesMax} bytes`
      : killed
        ? `was not done within ${timeoutMs} ms`
        : `ended with ${code ?? signal}`;
  return new VarveError(
    "MODEL_FAILED",
    `${program}, which is to print the key of the profile ${name}, ${what}.${said === "" ? "" : ` It said: ${said}`}`,
    { remedy, details: { profile: name } },
  );
}

function parsed(name: string, program: string, printed: string): { token: string; expiresAt?: number } {
  let json: unknown;
  try {
    json = JSON.parse(printed);
  } catch {
    // The parser's words would quote what was printed.
    throw useless(name, program, "something that is not JSON");
  }
  const known = answer.safeParse(json);
  if (!known.success) throw useless(name, program, "JSON without a token");
  const { token, expiresAt: at } = known.data;
  if (at === undefined) return { token };
  const expiresAt = typeof at === "number" ? at : Date.parse(at);
  if (!Number.isFinite(expiresAt)) throw useless(name, program, "an expiresAt that is no time");
  // A number this small counts seconds, as most tools do.
  return { token, expiresAt: typeof at === "number" && at < 1e11 ? at * 1_000 : expiresAt };
}

function useless(name: string, program: string, what: string): VarveError {
  return new VarveError("BAD_CONFIG", `${program} printed ${what} in place of the key of the profile ${name}.`, {
    remedy: 'It has to print the key and nothing else, or {"token": "…", "expiresAt": "…"}.',
  });
}

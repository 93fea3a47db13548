/**
 * Runs `varve hook EVENT`. A hook must never delay or break Claude Code: it exits with code 0 within its time limit and
 * prints nothing unless it has an answer. Failures are logged in `logs/hook.log`.
 */
import { appendFileSync, mkdirSync, renameSync, statSync } from "node:fs";
import { join } from "node:path";
import type { HookFlags } from "./answer-with-engine.ts";
import { askGateway, findGateway } from "./gateway-client.ts";
import { resolveHookHome } from "./hook-home.ts";
import { checkHookOutput } from "./hook-output.ts";

const deadlineMs = 1_500;
/** Claude Code waits about this long for the last hook of a session. */
const endDeadlineMs = 1_000;
const inputBytesMax = 16 * 1024 * 1024;
const promptMax = 20_000;
const logBytesMax = 1024 * 1024;
/** The only input fields that are sent on; others, such as the reply, are in the transcript anyway. */
const forwardedFields = [
  "session_id",
  "transcript_path",
  "agent_transcript_path",
  "agent_id",
  "cwd",
  "source",
] as const;

export async function runHook(event: string, flags: HookFlags): Promise<void> {
  // Claude Code was started by Varve to answer a single request, which is no conversation.
  if (process.env.VARVE_HOOK === "off") process.exit(0);
  const started = performance.now();
  const home = resolveHookHome(flags.home);
  const log = (record: Record<string, unknown>): void => {
    const ms = Math.round(performance.now() - started);
    writeLog(home, { time: new Date().toISOString(), event, ms, ...record });
  };
  const timeoutMs = flags.deadline ?? (event === "SessionEnd" ? endDeadlineMs : deadlineMs);
  setTimeout(() => {
    log({ error: "the hook took too long and was stopped" });
    process.exit(0);
  }, timeoutMs);
  try {
    const output = checkHookOutput(event, await answer(event, { home, timeoutMs, log }, flags));
    if (output !== undefined) await print(JSON.stringify(output));
  } catch (error) {
    log({ error: error instanceof Error ? error.message : String(error) });
  }
  // Exits even if something is still open, such as a model in a worker thread.
  process.exit(0);
}

interface HookContext {
  home: string;
  timeoutMs: number;
  log(record: Record<string, unknown>): void;
}

/** The share of the time limit that the gateway may take to prove itself; the rest is for the engine. */
const proofShare = 0.4;

async function answer(event: string, { home, timeoutMs, log }: HookContext, flags: HookFlags): Promise<unknown> {
  const input = selectInput(event, await readInput());
  const gateway = flags.database === undefined ? findGateway(home) : undefined;
  if (gateway) {
    const query = flags.agent === undefined ? "" : `?agent=${encodeURIComponent(flags.agent)}`;
    const path = `/api/hooks/claude-code${query}`;
    const proofMs = timeoutMs * proofShare;
    const reply = await askGateway(gateway, { path, body: JSON.stringify(input), proofMs });
    if (reply.status === "answered") return (reply.output as { output?: unknown }).output ?? undefined;
    if (reply.status === "unproven") log({ error: reply.because });
  }
  const { answerWithEngine } = await import("./answer-with-engine.ts");
  return answerWithEngine(input, { ...flags, home });
}

function selectInput(event: string, text: string): Record<string, unknown> {
  const given = JSON.parse(text) as Record<string, unknown>;
  const input: Record<string, unknown> = { hook_event_name: event };
  for (const name of forwardedFields) {
    if (typeof given[name] === "string" && given[name] !== "") input[name] = given[name];
  }
  if (event === "UserPromptSubmit" && typeof given.prompt === "string") {
    input.prompt = given.prompt.slice(0, promptMax).toWellFormed();
  }
  if (event === "PostCompact" && typeof given.compact_summary === "string") {
    input.compact_summary = given.compact_summary.toWellFormed();
  }
  return input;
}

async function readInput(): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > inputBytesMax) throw new Error("the input is too long");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function print(text: string): Promise<void> {
  return new Promise((done) => {
    process.stdout.write(`${text}\n`, () => done());
  });
}

function writeLog(home: string, record: Record<string, unknown>): void {
  try {
    const folder = join(home, "logs");
    const file = join(folder, "hook.log");
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) > logBytesMax) renameSync(file, `${file}.1`);
    appendFileSync(file, `${JSON.stringify(record)}\n`, { mode: 0o600 });
  } catch (error) {
    // Claude Code shows standard error in its debug log.
    process.stderr.write(`varve: ${error instanceof Error ? error.message : String(error)}\n`);
  }
}

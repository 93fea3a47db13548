import { type CheckItem, dropLaunchers, readCheckRuns } from "./checks.ts";
import { listChanges } from "./files.ts";
import { parseShell } from "./shell.ts";
import type { CallStep, Step } from "./steps.ts";

const causeChars = 300;

export interface ErrorFix {
  /** The files that were changed between the failure and the next success. */
  files: string[];
  /** When no file was changed: the commands that were run instead. */
  commands: string[];
  callIds: string[];
}

export interface ErrorItem {
  /** The line that names the cause. */
  cause: string;
  callId: string;
  /** Absent when the same command never succeeded later. */
  fix?: ErrorFix;
}

/** Failed commands with the line that names the cause, each cause once, with what was done until the command succeeded. */
export function findErrors(steps: readonly Step[]): ErrorItem[] {
  const calls = steps.filter((step) => step.kind === "call").filter((call) => call.finished);
  const runs = calls.map((call) => readCheckRuns(call));
  const errors = new Map<string, ErrorItem>();
  for (const [at, call] of calls.entries()) {
    const failedCheck = runs[at]?.find((run) => run.outcome === "fail");
    const isFailed = failedCheck !== undefined || (call.failed === true && (runs[at]?.length ?? 0) === 0);
    const cause = isFailed && !isToolMisuse(call) ? findCause(call.output) : undefined;
    if (cause === undefined || (failedCheck === undefined && isExploration(call))) continue;
    const success = calls.findIndex(
      (later, index) => index > at && isSuccess(call, failedCheck, later, runs[index] ?? []),
    );
    const fix = success === -1 ? undefined : readFix(call, calls.slice(at + 1, success), calls[success]);
    // The last occurrence is the one that was fixed.
    errors.set(cause.replace(/\d+/g, "0"), { cause, callId: call.callId, ...(fix === undefined ? {} : { fix }) });
  }
  return [...errors.values()];
}

/** Refusals of the agent's own file tools: nothing about the work. */
function isToolMisuse({ command, output, tool }: CallStep): boolean {
  if (/<tool_use_error>|InputValidationError|user doesn't want|haven't granted|rejected by (?:the )?user/i.test(output))
    return true;
  return command === undefined && /read|edit|write|grep|glob|search|list|todo|plan|patch|view|find|replace/.test(tool);
}

const explorers =
  /^(?:grep|rg|egrep|ag|ls|cat|find|fd|head|tail|wc|which|echo|test|pwd|tree|stat|file|sed|awk|diff|less|sleep|ps|kill|jq|true|\[)$/;

function isExploration({ command }: CallStep): boolean {
  if (command === undefined) return false;
  const commands = parseShell(command);
  return commands.every(({ words }) => explorers.test(dropLaunchers(words)[0] ?? ""));
}

function isSuccess(
  failed: CallStep,
  check: CheckItem | undefined,
  later: CallStep,
  laterRuns: readonly CheckItem[],
): boolean {
  if (check !== undefined) {
    const same = laterRuns.filter((run) => run.command === check.command || run.kind === check.kind);
    return same.length > 0 && same.every((run) => run.outcome === "pass");
  }
  if (later.failed === true || /^\s*error\b/i.test(later.output)) return false;
  if (failed.command === undefined || later.command === undefined) return failed.tool === later.tool;
  const laterCommands = parseShell(later.command).map((one) => dropLaunchers(one.words));
  return parseShell(failed.command)
    .map((one) => dropLaunchers(one.words))
    .filter(([name]) => !explorers.test(name ?? ""))
    .some((words) => laterCommands.some((other) => isSameCommand(words, other)));
}

/** Programs whose first word after the name decides what they do. */
const hasSubcommands =
  /^(?:git|npm|pnpm|yarn|bun|docker|docker-compose|kubectl|helm|terraform|cargo|go|pip3?|uv|poetry|aws|gcloud|az|gh|systemctl|brew|apt|apt-get|dbt|alembic|ansible|flyctl|vercel|rails|prisma|make|supabase|wrangler|pulumi|mix|bundle|nix|podman)$/;

function isSameCommand(a: readonly string[], b: readonly string[]): boolean {
  if (a[0] !== b[0]) return false;
  const [first, second] = [a, b].map((words) => words.slice(1).filter((word) => !word.startsWith("-")));
  if (hasSubcommands.test(a[0] ?? "")) return first?.[0] === second?.[0];
  return first?.length === 0 || (first ?? []).some((word) => second?.includes(word));
}

function readFix(failed: CallStep, between: readonly CallStep[], success: CallStep | undefined): ErrorFix | undefined {
  const edits = between.filter((call) => listChanges(call).length > 0);
  const ownChanges =
    success === undefined ? [] : listChanges(success).filter((path) => !listMentions(failed).includes(path));
  if (edits.length > 0) {
    const files = [...new Set(edits.flatMap(listChanges))];
    return { files, commands: [], callIds: edits.map((call) => call.callId) };
  }
  const acts = between.filter((call) => call.command !== undefined && call.failed !== true && !isExploration(call));
  if (acts.length > 0) return { files: [], commands: acts.map(printAct), callIds: acts.map((call) => call.callId) };
  // Nothing between: another form of the command was the fix, a mere repetition is none.
  if (success?.command === undefined || printAct(success) === printAct(failed)) return undefined;
  return { files: ownChanges, commands: [printAct(success)], callIds: [success.callId] };
}

function listMentions(call: CallStep): string[] {
  return call.command === undefined ? [] : parseShell(call.command).flatMap((one) => one.words);
}

/** A command line without folder changes, explorations, filters and redirections. */
function printAct(call: CallStep): string {
  const commands = parseShell(call.command ?? "").filter(({ words }) => !explorers.test(words[0] ?? ""));
  return commands.map(({ words }) => words.join(" ")).join(" && ");
}

/** Lines that only count or announce failures; another line names the cause. */
const announcement =
  /^\s*(?:[✖✗×] \d+ |\d+ (?:failed|failing|errors?)\b|Failed: \d|Failed to compile|FAIL(?:ED)?\s*$|make(?:\[\d+\])?: \*\*\*|Found \d+ errors?|Exit code|error: (?:could not compile|Command failed)|Error: \d+ |Issues found|.*\berrors?:\s*$)/;

/** From specific to general; within one pattern the first line wins. */
const causes: readonly RegExp[] = [
  /\berror TS\d+:/,
  /^error\[\w+\]:/,
  /^\s*(?:E {2,})?(?:[\w.]*\.)?[A-Z]\w*(?:Error|Exception)\b/,
  /\b[A-Z]\w*(?:Error|Exception)(?: \[\w+\])?: /,
  /^\s*\d+:\d+\s+error\s+/,
  /Module not found|Cannot find module|Could not resolve/,
  /^\s*(?:✗|✘|×|✖|●|--- FAIL:|FAIL(?:ED)?:?)\s+\S/,
  /^\s*(?:[a-z]{1,8}: )?[^\s:]+\.\w+:\d+(?::\d+)?(?:[:\s]).{4,}/,
  /\bcommand not found/,
  /\[(?:emerg|alert|crit|error|fatal)\]/i,
  /\b(?:Error|ERROR|error|fatal|FATAL|panic)\b[:\]] ?/,
  /^\s*not ok \d/,
  /^\s*(?:Failure in|ERROR\s+-)/,
  /No such file or directory|Permission denied|denied|not found|cannot|refused|already (?:in use|exists)|timed out|undefined reference|conflict|unable to|failed to|rejected|invalid|missing|is required|unauthorized|forbidden|does not exist|rolled back/i,
  /^npm (?:ERR!|error) /,
  /\b(?:failed|FAILED|failure)\b/,
];

/** The line of an output that names the cause of a failure. */
function findCause(output: string): string | undefined {
  const text = output.replace(/^(?:Exit code|Process exited with code|Command exited with code)[: ]+\d+.*$/gim, "");
  return findTracedCause(text) ?? findLine(text, (line) => !announcement.test(line)) ?? findLine(text, () => true);
}

/** The cause in a Python trace is its last line. */
function findTracedCause(text: string): string | undefined {
  const trace = /Traceback \(most recent call last\)[^\n]*\n(?:[ \t]+[^\n]*\n|\n)*([A-Za-z_][\w.]*(?::[^\n]*)?)$/m;
  return trace.exec(text)?.[1]?.trim();
}

/** The lines that npm adds to every failed script. */
const npmNoise = /^npm (?:ERR!|error) (?:A complete log|command|path|code|workspace|location|errno|Lifecycle)/;

function findLine(text: string, accept: (line: string) => boolean): string | undefined {
  const lines = text.split("\n").filter((line) => line.trim().length > 8 && !npmNoise.test(line) && accept(line));
  for (const pattern of causes) {
    const line = lines.find((one) => pattern.test(one));
    if (line !== undefined) return line.trim().slice(0, causeChars);
  }
  return undefined;
}

/** How a command ended, and what its output says about it. */
export interface CommandOutcome {
  outcome: "passed" | "failed" | "unknown";
  /** The exit code that the result names; that of the filter where the output was filtered. */
  exitCode?: number;
  /** A few words: `3 failed, 40 passed`. */
  detail?: string;
  /** The line that names the cause of a failure. */
  cause?: string;
}

const exitCode =
  /(?:exit(?:ed with)?(?: status| code)?|exit_code|process exited with(?: exit)? code)["']?[:=]?\s*(\d{1,3})\b/i;
/** Claude Code and Codex name the exit code before the output; Codex after a few lines about the process. */
const leadingExitCode =
  /^(?:(?:Chunk ID|Command|Wall time)\b[^\n]*\n){0,4}(?:Exit code:?|Process exited with code) (\d{1,3})\b/i;
const failureMarks =
  /\berror TS\d+|\berror\[E\d+\]|^[ \t]*(?:FAIL|FAILED)\b|\b[1-9]\d* (?:tests? )?(?:failed|failing|failures?|errors?)\b|npm (?:ERR!|error)|BUILD FAILED|panicked at|\bELIFECYCLE\b|^[ \t]*[✖✗❌]|^error(?:\[|:)|^fatal: |Segmentation fault|command not found|\bCompilation failed/im;
/** Errors that a passing run may print as well. */
const printedErrors =
  /Traceback \(most recent|AssertionError|SyntaxError:|TypeError:|ReferenceError:|ModuleNotFoundError/;
const failedCounts = /\b[1-9]\d* (?:tests? )?(?:failed|failing|failures?|errors?)\b/i;
const successMarks =
  /\b[1-9]\d* (?:tests? )?pass(?:ed|ing)\b|test result: ok|\b0 errors?\b|BUILD SUCCESS|compiled successfully|built in|Found 0 errors|\bok\s+\S+\s+[\d.]+s|All (?:checks|tests|files) pass|no (?:errors|issues|problems)|✓ built|Done in|Successfully/i;
const charsMax = 60_000;

export interface OutcomeHints {
  isError?: boolean;
  isFiltered?: boolean;
  filtersErrors?: boolean;
}

/** Reads the outcome of a command from its result. A filter's exit code says nothing about the command before it. */
export function readOutcome(output: string, hints: OutcomeHints = {}): CommandOutcome {
  const unwrapped = unwrapOutput(output);
  const text = boundText(unwrapped);
  const code = readExitCode(unwrapped);
  const body = text.replace(/^.*(?:exited with code|exit code).*$/gim, "").trim();
  const found = judge(body, code, hints);
  return code === undefined ? found : { ...found, exitCode: code };
}

function readExitCode(output: string): number | undefined {
  const found = leadingExitCode.exec(output.slice(0, 1_000)) ?? exitCode.exec(output.slice(-400));
  return found === null ? undefined : Number(found[1]);
}

function judge(body: string, code: number | undefined, hints: OutcomeHints): CommandOutcome {
  const hasSucceeded = successMarks.test(body);
  if (hints.filtersErrors) {
    const count = /^\d+$/.exec(body)?.[0];
    if (body === "" || count === "0") return { outcome: "passed", detail: "no errors" };
    if (count !== undefined) return { outcome: "failed", detail: `${count} errors` };
  }
  // The last line with counts decides: a run may print failures that it expects.
  const counts = lastMatch(body, /^.*\b\d+ (?:failed|failures?|errors?)\b.*$/gim) ?? "";
  const hasNone = /\b0 (?:failed|failures|errors)\b/i.test(counts) && !failedCounts.test(counts);
  const hasMarks = failureMarks.test(body) || (!hasSucceeded && printedErrors.test(body));
  const hasFailed = (hasMarks && !hasNone) || (hints.filtersErrors === true && !hasSucceeded);
  const isBad = (hints.isError === true || (code ?? 0) > 0) && !hints.isFiltered;
  if (isBad || hasFailed) {
    const cause = findCause(body);
    return { outcome: "failed", ...optional("detail", findDetail(body)), ...optional("cause", cause) };
  }
  const isGood = code === 0 || hasSucceeded || (hints.isError === false && !hints.isFiltered);
  return { outcome: isGood || body !== "" ? "passed" : "unknown", ...optional("detail", findDetail(body)) };
}

function optional<K extends string>(name: K, value: string | undefined): { [key in K]?: string } {
  return value === undefined ? {} : ({ [name]: value } as { [key in K]?: string });
}

/** Codex wraps the output of a command in JSON: `{"output": "…", "metadata": {"exit_code": 1}}`. */
function unwrapOutput(output: string): string {
  if (!output.startsWith('{"output":')) return output;
  try {
    const parsed = JSON.parse(output) as { output?: unknown; metadata?: { exit_code?: unknown } };
    return `${String(parsed.output ?? "")}\nexit code ${String(parsed.metadata?.exit_code ?? "")}`;
  } catch {
    // Text that only looks like JSON is read as it is.
    return output;
  }
}

/** The beginning and the end of a text, without empty lines: patterns that skip white space stay linear. */
function boundText(text: string): string {
  const ends = text.length <= charsMax ? text : `${text.slice(0, charsMax / 2)}\n${text.slice(-charsMax / 2)}`;
  return ends
    .split("\n")
    .filter((line) => line.trim() !== "")
    .join("\n");
}

function lastMatch(text: string, pattern: RegExp): string | undefined {
  let last: string | undefined;
  for (const found of text.matchAll(pattern)) last = found[0];
  return last;
}

const details: readonly RegExp[] = [
  /^[ \t]*Tests?:?\s+(\d[^\n]{3,80})$/gm,
  /\btest result: [^\n]{3,80}/g,
  /\b\d+ (?:tests? )?(?:failed|passed|passing|failing)\b(?:[,;] ?\d+ (?:failed|passed|skipped|total|pending|passing|failing))*/gi,
  /\bFound \d+ errors?\b[^\n]{0,40}/gi,
  /\b\d+ problems? \([^)\n]{3,60}\)/g,
  /\b\d+ (?:errors?|warnings?)(?:,? (?:and )?\d+ (?:errors?|warnings?))?/gi,
];

function findDetail(text: string): string | undefined {
  for (const pattern of details) {
    const found = lastMatch(text, pattern);
    if (found !== undefined)
      return found
        .replace(/\s+/g, " ")
        .replace(/^\s*Tests?:?\s+/, "")
        .trim()
        .slice(0, 80);
  }
  const typeErrors = text.match(/error TS\d+/g)?.length ?? 0;
  return typeErrors > 0 ? `${typeErrors} type error${typeErrors === 1 ? "" : "s"}` : undefined;
}

/** The patterns of lines that name a cause, most telling first. */
const causes: readonly RegExp[] = [
  /^.{0,160}\berror TS\d+: .{5,}$/m,
  /^[ \t]*error(?:\[E\d+\])?: .{5,}$/im,
  /^[ \t]*(?:\w+\.)*\w*(?:Error|Exception|Panic)\b(?: \[\w+\])?: .{3,}$/m,
  /^.*\b(?:AssertionError|TypeError|ReferenceError|SyntaxError|RangeError|ValueError|KeyError|ImportError|ModuleNotFoundError)\b.*$/m,
  /^thread '.*' panicked at .*$/m,
  /^[ \t]*(?:fatal|FATAL|panic): .{3,}$/m,
  /^.{0,300}: (?:command not found|No such file or directory|Permission denied|not found).*$/m,
  /^.{0,120}\b(?:ENOENT|EACCES|EADDRINUSE|ECONNREFUSED|ETIMEDOUT|EPERM)\b.*$/m,
  /^npm (?:ERR!|error) .{8,}$/m,
  /^[ \t]*(?:FAIL|FAILED|✖|✗|×|❌)[ \t]+\S.{3,}$/m,
  /^.{0,160}\b(?:[Ee]rror|failed|cannot|Cannot|Could not|could not|unable to|not found|refused|invalid|undefined)\b.{3,}$/m,
];
const frame = /^\s*(?:at\s+\S+.*[(:]\d*|File "[^"]+", line \d+|\d+\s*\||\|\s|\^+\s*$|#\d+\s)/;
/** Lines of npm that repeat where and what failed, not why. */
const npmNoise = /^\s*npm (?:ERR!|error) (?:code|path|workspace|location|errno|syscall|Lifecycle|command|A complete)\b/;
const causeLength = 160;

/** The line that names the cause of a failure; never a stack frame. */
export function findCause(output: string): string | undefined {
  const lines = boundText(output)
    .split("\n")
    .filter((line) => line.length < 2_000 && !frame.test(line) && !npmNoise.test(line));
  const text = lines.join("\n");
  for (const pattern of causes) {
    const isTraceback = pattern === causes[2] && text.includes("Traceback (most recent");
    const found = isTraceback ? lastMatch(text, new RegExp(pattern.source, "gm")) : pattern.exec(text)?.[0];
    if (found !== undefined) return found.replace(/\s+/g, " ").trim().slice(0, causeLength).toWellFormed();
  }
  return undefined;
}

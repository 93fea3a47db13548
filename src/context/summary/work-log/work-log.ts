/** A line of a work log; `seq` is the message it was read from. */
export interface LogLine {
  text: string;
  seq?: number;
}

/** Something the person asked, corrected or decided, in their words. */
export interface RequestLine extends LogLine {
  /** The written time of the request, where time has passed since the one before. */
  stamp?: string;
  /** The outcome: the first sentence of the answer. */
  outcome?: string;
  state?: RequestState;
}

/** A request is done when it was answered, unless the next message of the person corrects the result. */
export type RequestState = "done" | "continues" | "interrupted" | "corrected";

export type FileOperation = "created" | "edited" | "deleted" | "moved";

export interface LineCounts {
  added: number;
  removed: number;
}

/** All changes of one file. */
export interface FileLine {
  path: string;
  /** The last operation; a file that was created here and edited later stays created. */
  operation: FileOperation;
  /** The new path of a moved file. */
  target?: string;
  edits: number;
  /** Undefined when some of the changes do not tell. */
  lines?: LineCounts;
  seq?: number;
}

/** A test, build or lint command with its last outcome. */
export interface CheckLine extends LogLine {
  outcome: "passed" | "failed" | "unknown";
  /** A few words from its output: `3 failed, 40 passed`. */
  detail?: string;
  runs: number;
}

/** An error by the message that names its cause, the command that showed it, and what fixed it. */
export interface ErrorLine extends LogLine {
  command?: string;
  fix?: string;
}

export interface TodoLine extends LogLine {
  state: "done" | "active" | "pending";
}

/** The work in a run of messages: read from the transcript, merged from logs, or parsed from a summary. */
export interface WorkLog {
  requests: RequestLine[];
  files: FileLine[];
  checks: CheckLine[];
  /** Commits, installations, releases and other commands with a lasting effect. */
  events: LogLine[];
  errors: ErrorLine[];
  /** Facts learned and conclusions of the assistant. */
  facts: LogLine[];
  /** The last todo list. */
  todos: TodoLine[];
  /** Questions without an answer, and announced next steps. */
  pending: LogLine[];
  /** Identifiers, URLs and tickets. */
  references: LogLine[];
  /** Topics of the `Expand for details about` lines of merged summaries. */
  topics: string[];
}

export function emptyWorkLog(): WorkLog {
  return {
    requests: [],
    files: [],
    checks: [],
    events: [],
    errors: [],
    facts: [],
    todos: [],
    pending: [],
    references: [],
    topics: [],
  };
}

/** Records a change of a file: one line holds all changes of a path. A repeated path moves to the end. */
export function addFileChange(files: Map<string, FileLine>, change: FileLine): void {
  const known = files.get(change.path);
  files.delete(change.path);
  if (known === undefined) {
    files.set(change.path, change);
    return;
  }
  const isRecreated = known.operation === "deleted" || known.operation === "moved";
  const operation = change.operation === "edited" && !isRecreated ? known.operation : change.operation;
  files.set(change.path, {
    ...change,
    operation: operation === "created" && known.operation === "edited" ? "edited" : operation,
    edits: known.edits + change.edits,
    // Deleting or moving a file changes no lines.
    lines: change.edits === 0 ? known.lines : addLines(known.lines, change.lines),
  });
}

function addLines(a: LineCounts | undefined, b: LineCounts | undefined): LineCounts | undefined {
  return a === undefined || b === undefined ? undefined : { added: a.added + b.added, removed: a.removed + b.removed };
}

/**
 * Merges logs in order of time: later outcomes replace earlier ones, a fixed error and a passing check leave the list of
 * open work, the last todo list stands for all before it, and a question is answered once the person has said more.
 */
export function mergeWorkLogs(logs: readonly WorkLog[]): WorkLog {
  const merged = emptyWorkLog();
  const files = new Map<string, FileLine>();
  const checks = new Map<string, CheckLine>();
  for (const log of logs) {
    if (log.requests.length > 0) endContinuing(merged.requests);
    merged.requests.push(...log.requests);
    for (const file of log.files) addFileChange(files, file);
    for (const check of log.checks) {
      closeErrors(merged.errors, check);
      const known = checks.get(check.text);
      checks.delete(check.text);
      checks.set(check.text, addCheckRun(known, check));
    }
    addErrors(merged.errors, log.errors);
    addNew(merged.events, log.events);
    addNew(merged.facts, log.facts);
    addNew(merged.references, log.references);
    if (log.todos.length > 0) merged.todos = log.todos;
    if (log.requests.length > 0 || log.pending.length > 0) merged.pending = log.pending;
    merged.topics.push(...log.topics);
  }
  merged.files = [...files.values()];
  merged.checks = [...checks.values()];
  return merged;
}

/** The newest outcome of a check; a run whose outcome cannot be told keeps the one before. */
export function addCheckRun(known: CheckLine | undefined, check: CheckLine): CheckLine {
  if (known === undefined) return check;
  const runs = known.runs + check.runs;
  return check.outcome === "unknown" ? { ...known, runs } : { ...check, runs };
}

/** A request that went on at the end of one log is over once the person has asked for something else. */
function endContinuing(requests: RequestLine[]): void {
  const last = requests.at(-1);
  if (last?.state !== "continues") return;
  const { state: _, ...ended } = last;
  requests[requests.length - 1] = ended;
}

/** An error is fixed when its command passes later. */
function closeErrors(errors: ErrorLine[], check: CheckLine): void {
  if (check.outcome !== "passed") return;
  for (const error of errors) {
    if (error.fix === undefined && error.command === check.text) error.fix = "a later change (it passed)";
  }
}

/** The same error is listed once, with its fix if there is one. */
function addErrors(known: ErrorLine[], added: readonly ErrorLine[]): void {
  for (const error of added) {
    const at = known.findIndex((one) => one.text === error.text);
    const [before] = at === -1 ? [] : known.splice(at, 1);
    known.push({ ...before, ...error });
  }
}

function addNew(known: LogLine[], added: readonly LogLine[]): void {
  const texts = new Set(known.map((line) => line.text));
  for (const line of added) {
    if (texts.has(line.text)) continue;
    texts.add(line.text);
    known.push(line);
  }
}

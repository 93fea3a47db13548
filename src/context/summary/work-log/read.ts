import { getParts, type Message, type Part, type ToolCallPart, type ToolResultPart } from "../../../domain/index.ts";
import {
  findAnswer,
  findQuestion,
  getPartsText,
  interruption,
  isAgreement,
  isConfirmation,
  oneLine,
  readTyped,
  shortenWords,
} from "../../../transcript/index.ts";
import type { SummaryTurn } from "../summary-request.ts";
import { findNextStep, isContinuation, isCorrection, readChecklist, readContinuation } from "./answers.ts";
import { isLooking, listPrograms, readFacts } from "./command-facts.ts";
import { type CommandOutcome, findCause, readOutcome } from "./outcome.ts";
import { findReferences } from "./references.ts";
import { readShell, type ShellEffects } from "./shell.ts";
import { type FileEffect, readTodoState, readToolUse, type ToolUse } from "./tool-kinds.ts";
import {
  addCheckRun,
  addFileChange,
  type CheckLine,
  type ErrorLine,
  emptyWorkLog,
  type FileLine,
  type LogLine,
  type TodoLine,
  type WorkLog,
} from "./work-log.ts";

/** A request is stamped when this long has passed since the last stamp. */
const stampEveryMs = 20 * 60_000;
const answerWords = 32;
const requestWords = 120;
const outputCharsMax = 200_000;

/** Reads a work log from messages. The same messages always give the same log. */
export function readWorkLog(turns: readonly SummaryTurn[], write: (time: number) => string): WorkLog {
  const reader = new WorkLogReader(write);
  for (const turn of turns) reader.read(turn);
  return reader.finish();
}

interface OpenError extends ErrorLine {
  /** The failed check, or the first words of a command. */
  key: string;
  /** Paths that were changed since. */
  changed: string[];
}

interface PendingCall {
  call: ToolCallPart;
  use: ToolUse;
  seq?: number;
}

class WorkLogReader {
  private readonly log: WorkLog = emptyWorkLog();
  private readonly files = new Map<string, FileLine>();
  private readonly checks = new Map<string, CheckLine>();
  private readonly calls = new Map<string, PendingCall>();
  private readonly open: OpenError[] = [];
  private readonly tasks = new Map<string, TodoLine>();
  private lastAnswer = "";
  private lastAnswerSeq: number | undefined;
  private lastStampAt = Number.NEGATIVE_INFINITY;
  private readonly write: (time: number) => string;

  constructor(write: (time: number) => string) {
    this.write = write;
  }

  read(turn: SummaryTurn): void {
    const message: Message = turn.message ?? { role: turn.role ?? "user", content: turn.text };
    const parts = getParts(message);
    for (const part of parts) {
      if (part.type === "tool_call") this.readCall(part, turn.seq);
      else if (part.type === "tool_result") this.readResult(part, turn.seq);
    }
    const text = readText(parts);
    if (text === "") return;
    if (message.role === "user") this.readRequest(text, turn);
    else if (message.role === "assistant") this.readAnswer(text, turn.seq);
  }

  finish(): WorkLog {
    this.endRequest();
    const { log } = this;
    log.files = [...this.files.values()];
    log.checks = [...this.checks.values()];
    log.errors.push(...this.open.map(({ text, seq, command }) => toErrorLine({ text, seq, command })));
    if (this.tasks.size > 0) log.todos = [...this.tasks.values()];
    const question = findQuestion(this.lastAnswer);
    if (question !== undefined) log.pending.push(withSeq({ text: `question: ${question}` }, this.lastAnswerSeq));
    const next = findNextStep(this.lastAnswer);
    if (next !== undefined) log.pending.push(withSeq({ text: `next: ${next}` }, this.lastAnswerSeq));
    return log;
  }

  private readRequest(raw: string, turn: SummaryTurn): void {
    const last = this.log.requests.at(-1);
    if (interruption.test(raw) && last !== undefined) last.state = "interrupted";
    if (isContinuation(raw)) {
      this.log.facts.push(
        withSeq({ text: `continued from an earlier conversation: ${readContinuation(raw)}` }, turn.seq),
      );
      return;
    }
    const { text, pastedLines } = readTyped(raw);
    if (text === "" || /^\/\w*$/.test(text)) return;
    const question = isConfirmation(text) || isAgreement(text) ? findQuestion(this.lastAnswer) : undefined;
    if (isConfirmation(text) && question === undefined) return;
    this.endRequest();
    if (last?.state === "done" && isCorrection(text)) last.state = "corrected";
    // Another request came without an answer in words: what was done for it is in the log.
    if (last?.state === "continues") delete last.state;
    const said = question === undefined ? shortenWords(text, requestWords) : `${text} (to: ${question})`;
    const pasted = pastedLines > 0 ? ` [pasted ${pastedLines} line${pastedLines === 1 ? "" : "s"}]` : "";
    const speaker = turn.message?.name === undefined ? "" : `${oneLine(turn.message.name).slice(0, 40)}: `;
    const stamp = turn.time - this.lastStampAt >= stampEveryMs ? this.write(turn.time) : "";
    if (stamp !== "") this.lastStampAt = turn.time;
    this.log.requests.push({
      ...withSeq({ text: `${speaker}${said}${pasted}` }, turn.seq),
      state: "continues",
      ...(stamp === "" ? {} : { stamp }),
    });
    this.log.references.push(...findReferences(text, turn.seq));
    this.lastAnswer = "";
  }

  private readAnswer(text: string, seq: number | undefined): void {
    this.lastAnswer = text;
    this.lastAnswerSeq = seq;
    const list = readChecklist(text, seq);
    if (list.length > 1) this.log.todos = list;
  }

  /** The newest answer is the outcome of the request before it. */
  private endRequest(): void {
    const request = this.log.requests.at(-1);
    if (request === undefined || request.state !== "continues" || this.lastAnswer === "") return;
    request.state = "done";
    const answer = findAnswer(this.lastAnswer);
    if (answer !== undefined) request.outcome = shortenWords(answer, answerWords);
  }

  private readCall(call: ToolCallPart, seq: number | undefined): void {
    const use = readToolUse(call.name, call.input, call.inputText);
    this.calls.set(call.callId, { call, use, ...(seq === undefined ? {} : { seq }) });
    if (use.kind === "todos") {
      this.tasks.clear();
      this.log.todos = use.todos.map((todo) => withSeq({ ...todo, text: oneLine(todo.text) }, seq));
    }
  }

  private readResult(part: ToolResultPart, seq: number | undefined): void {
    const found = this.calls.get(part.callId);
    this.calls.delete(part.callId);
    if (found === undefined) return;
    const output = keepEnds(typeof part.output === "string" ? part.output : getPartsText(part.output));
    const { use, call } = found;
    this.readTask(call, output);
    const at = found.seq ?? seq;
    switch (use.kind) {
      case "files":
        this.readFileResult(use.effects, call.name, output, part.isError === true, at);
        return;
      case "shell":
        this.readShellResult(use, output, part.isError, at);
        return;
      case "delegate":
        this.log.events.push(withSeq({ text: `delegated: ${shortenWords(oneLine(use.description), 24)}` }, at));
        return;
      case "question":
        this.readUserAnswer(use.question, output, at);
        return;
      case "todos":
      case "look":
        if (part.isError === true) this.noteError(call.name, output, at);
    }
  }

  private readFileResult(effects: FileEffect[], name: string, output: string, isError: boolean, seq?: number): void {
    if (isError || /^\s*(?:<tool_use_error>|Error\b|error:|Failed\b|apply_patch verification failed)/.test(output)) {
      this.noteError(`${name} ${effects[0]?.path ?? ""}`.trim(), output, seq);
      return;
    }
    for (const effect of effects) {
      this.noteFile(effect, seq);
      // An edit that failed and was tried again is no error of the work.
      const failed = this.open.findIndex(({ key }) => key === `${name} ${effect.path}`);
      if (failed !== -1) this.open.splice(failed, 1);
    }
  }

  private noteFile(effect: FileEffect, seq?: number): void {
    const { path, operation, target, lines } = effect;
    const edits = operation === "edited" || operation === "created" ? 1 : 0;
    addFileChange(
      this.files,
      withSeq(
        {
          path,
          operation,
          ...(target === undefined ? {} : { target }),
          edits,
          ...(lines === undefined ? {} : { lines }),
        },
        seq,
      ),
    );
    for (const error of this.open) if (!error.changed.includes(path)) error.changed.push(path);
  }

  private readShellResult(
    use: ToolUse & { kind: "shell" },
    output: string,
    isError: boolean | undefined,
    seq?: number,
  ): void {
    const effects = readShell(use.command, use.folder);
    const outcome = readOutcome(output, {
      isError,
      isFiltered: effects.isFiltered,
      filtersErrors: effects.filtersErrors,
    });
    const hasFailed = outcome.outcome === "failed";
    const isExitBad = isError === true || (outcome.exitCode ?? 0) > 0;
    if (!(hasFailed && isExitBad && !effects.isFiltered))
      for (const effect of effects.files) this.noteFile(effect, seq);
    for (const check of effects.checks) this.noteCheck(check, outcome, seq);
    for (const event of effects.events) this.noteEvent(event, output, hasFailed && isExitBad, seq);
    const programs = listPrograms(use.command);
    const key = effects.checks[0] ?? programs.at(-1) ?? use.command;
    if (hasFailed && !isLooking(use.command)) this.noteFailure(key, effects, outcome, use.command, seq);
    else if (outcome.outcome === "passed") this.closeErrors(new Set([...effects.checks, ...programs]), use.command);
    for (const fact of readFacts(use.command, output)) this.log.facts.push(withSeq({ text: fact }, seq));
  }

  private noteCheck(text: string, { outcome, detail }: CommandOutcome, seq?: number): void {
    const known = this.checks.get(text);
    this.checks.delete(text);
    const check = withSeq({ text, outcome, ...(detail === undefined ? {} : { detail }), runs: 1 }, seq);
    this.checks.set(text, addCheckRun(known, check));
  }

  private noteEvent(event: string, output: string, hasFailed: boolean, seq?: number): void {
    const commit = event.startsWith("committed")
      ? /^\[([\w./-]+)(?: \([^)\n]*\))? ([0-9a-f]{7,40})\] (.{1,120})$/m.exec(output)
      : null;
    const text = commit === null ? event : `committed ${commit[2]} "${commit[3]}" on ${commit[1]}`;
    this.log.events.push(withSeq({ text: hasFailed ? `${text}: failed` : text }, seq));
  }

  private noteFailure(
    key: string,
    effects: ShellEffects,
    outcome: CommandOutcome,
    command: string,
    seq?: number,
  ): void {
    if (outcome.cause === undefined) return;
    const label = effects.checks[0] ?? shortenWords(oneLine(command), 8);
    this.openError({ text: outcome.cause, command: label, key, changed: [] }, seq);
  }

  private noteError(name: string, output: string, seq?: number): void {
    const cause = findCause(output) ?? oneLine(output).slice(0, 160);
    if (cause === "") return;
    this.openError({ text: cause, command: name, key: name, changed: [] }, seq);
  }

  /** The same error is listed once, where it was seen first. */
  private openError(error: OpenError, seq: number | undefined): void {
    if (this.open.some((one) => one.text === error.text)) return;
    this.open.push(withSeq(error, seq));
  }

  /** A passing command fixes its errors: by the files changed since, or by the command itself. */
  private closeErrors(keys: ReadonlySet<string>, command: string): void {
    for (let index = this.open.length - 1; index >= 0; index -= 1) {
      const error = this.open[index];
      if (error === undefined || !keys.has(error.key)) continue;
      this.open.splice(index, 1);
      const files = error.changed.slice(-3).join(", ");
      const line = oneLine(command);
      const fix =
        files !== "" ? `editing ${files}` : line === error.command ? "running it again" : shortenWords(line, 10);
      this.log.errors.push(toErrorLine({ ...error, fix }));
    }
  }

  private readUserAnswer(question: string, output: string, seq?: number): void {
    const text = oneLine(output).slice(0, 400);
    if (text !== "")
      this.log.requests.push(
        withSeq({ text: `answered "${shortenWords(oneLine(question), 24)}": ${text}`, state: "done" as const }, seq),
      );
  }

  /** Single tasks, as Claude Code keeps them: created with a subject, updated by their number. */
  private readTask(call: ToolCallPart, output: string): void {
    const input = call.input;
    if (typeof input !== "object" || input === null || Array.isArray(input)) return;
    if (call.name === "TaskCreate" && typeof input.subject === "string") {
      const id = /#(\d+)/.exec(output)?.[1] ?? String(this.tasks.size + 1);
      this.tasks.set(id, { text: oneLine(input.subject), state: "pending" });
    }
    if (call.name === "TaskUpdate" && typeof input.status === "string") {
      const task = this.tasks.get(String(input.taskId));
      if (input.status === "deleted") this.tasks.delete(String(input.taskId));
      else if (task !== undefined) task.state = readTodoState(input.status);
    }
  }
}

/** The beginning and the end of an output, where commands say how they ended. */
function keepEnds(output: string): string {
  if (output.length <= outputCharsMax) return output;
  return `${output.slice(0, outputCharsMax / 2)}\n${output.slice(-outputCharsMax / 2)}`;
}

function toErrorLine({ text, seq, command, fix }: ErrorLine): ErrorLine {
  return withSeq({ text, ...(command === undefined ? {} : { command }), ...(fix === undefined ? {} : { fix }) }, seq);
}

function withSeq<T extends object>(line: T, seq: number | undefined): T & Pick<LogLine, "seq"> {
  return seq === undefined ? line : { ...line, seq };
}

/** The spoken text, without reasoning, calls and results. */
function readText(parts: readonly Part[]): string {
  return parts
    .flatMap((part) => (part.type === "text" ? [part.text] : []))
    .join("\n")
    .trim();
}

import { estimateTokens } from "../../../text/index.ts";
import { shortenWords } from "../../../transcript/index.ts";
import { expandPrefix, noFiles, sourcePrefix } from "../../summary-text.ts";
import { findFailing, findLastChecks, findOpenErrors } from "./open-work.ts";
import { findRoot } from "./paths.ts";
import type { CheckLine, ErrorLine, FileLine, LogLine, RequestLine, TodoLine, WorkLog } from "./work-log.ts";

export const sectionNames = ["Requests", "Done", "Found", "Open", "Refer"] as const;
export type SectionName = (typeof sectionNames)[number];

export const rootPrefix = "Paths are in ";

export interface PrintOptions {
  targetTokens: number;
  sourceTokens: number;
  /** Requests are not cut below this many words; some are left out instead. 7 when absent. */
  requestWordsMin?: number;
  /** Further sentences of the conversation, best first, for what is left of the target. */
  notes?: readonly LogLine[];
}

/** Words of a request: the longest of the short forms in which all requests fit their share, then longer forms. */
const shortWords = [18, 13, 10, 7] as const;
const mediumWords = 40;
const fullWords = 130;
const newestInFull = 3;
const openErrorsMax = 2;
/** The tokens of a request line in addition to its words. */
const requestTokens = 7;
const tokensPerWord = 1.4;

/** The shares of the target that each kind of line may take before the others had their turn. */
const shares = { requests: 0.46, files: 0.26, checks: 0.1, errors: 0.16, events: 0.08, references: 0.12 } as const;

/** Prints a work log within a target, most important lines first; counts of what was left out are part of it. */
export function printWorkLog(log: WorkLog, options: PrintOptions): string {
  const picker = new LinePicker(log, options);
  picker.pickAll();
  return picker.print();
}

interface Entry {
  section: SectionName;
  /** The order within the section. */
  order: number;
  text: string;
  tokens: number;
  /** Lines that are counted when they are left out. */
  kind: string;
}

class LinePicker {
  private readonly entries = new Map<string, Entry>();
  private readonly root: string | undefined;
  private left: number;
  private readonly log: WorkLog;
  private readonly options: PrintOptions;

  constructor(log: WorkLog, options: PrintOptions) {
    this.log = log;
    this.options = options;
    this.root = findRoot(log.files.map(({ path }) => path));
    const fixed = [
      ...sectionNames,
      this.rootLine(),
      noFiles,
      this.sourceLine(),
      "- and 100 more requests, 100 more files",
    ];
    this.left = options.targetTokens - estimateTokens(fixed.join("\n")) - this.expandBudget();
  }

  pickAll(): void {
    const { log } = this;
    const newestRequests = [...log.requests.entries()].toReversed();
    const newestFiles = [...log.files.entries()]
      .toReversed()
      .sort(([, a], [, b]) => Number(isScratch(a)) - Number(isScratch(b)));
    this.pickOpen();
    // What was asked last is what the reader continues with.
    for (const [index, request] of newestRequests.slice(0, newestInFull)) {
      this.addRequest(index, request, mediumWords, "outcome");
    }
    const words = this.chooseShortWords();
    this.pickWithin(shares.requests, spreadOut(newestRequests), ([index, request]) =>
      this.addRequest(index, request, words, "text"),
    );
    this.pickWithin(shares.files, newestFiles, ([index, file]) => this.addFile(index, file, "path"));
    this.pickWithin(shares.checks, [...log.checks.entries()].toReversed(), ([index, check]) =>
      this.addCheck(index, check),
    );
    const fixed = [...log.errors.entries()].filter(([, error]) => error.fix !== undefined).toReversed();
    this.pickWithin(shares.errors, fixed, ([index, error]) => this.addError(index, error));
    this.pickWithin(shares.events, [...log.events.entries()].toReversed(), ([index, event]) =>
      this.addEvent(index, event),
    );
    this.pickWithin(shares.references, [...log.references.entries()].toReversed(), ([index, line]) =>
      this.addReference(index, line),
    );
    // What the shares left is for everything that is still missing, then for longer forms.
    for (const [index, file] of newestFiles) this.addFile(index, file, "path");
    for (const [index, request] of spreadOut(newestRequests)) this.addRequest(index, request, words, "text");
    // Longer step by step, so that the room is shared before the newest take more of it.
    for (const most of [14, 20]) {
      if (most <= words) continue;
      for (const [index, request] of newestRequests) this.addRequest(index, request, most, "text");
    }
    for (const [index, request] of newestRequests) this.addRequest(index, request, mediumWords, "state");
    for (const [index, file] of newestFiles) this.addFile(index, file, "counts");
    for (const [index, error] of fixed) this.addError(index, error);
    for (const [index, check] of log.checks.entries()) this.addCheck(index, check);
    for (const [index, line] of [...log.references.entries()].toReversed()) this.addReference(index, line);
    for (const [index, request] of newestRequests) this.addRequest(index, request, fullWords, "state");
    for (const [index, event] of [...log.events.entries()].toReversed()) this.addEvent(index, event);
    for (const [index, request] of newestRequests) this.addRequest(index, request, fullWords, "outcome");
    for (const [index, error] of [...log.errors.entries()].toReversed()) this.addError(index, error);
    for (const [index, fact] of [...log.facts.entries()].toReversed())
      this.add("Found", `fact ${index}`, 10_000 + index, bullet(fact), "facts");
    for (const [index, note] of (this.options.notes ?? []).entries()) {
      this.add("Found", `note ${index}`, 20_000 + (note.seq ?? index), bullet(note), "notes");
    }
  }

  print(): string {
    for (;;) {
      const text = this.compose();
      if (estimateTokens(text) <= this.options.targetTokens) return text;
      // Estimates of single lines may add up to less than the whole; the last lines that were picked go first.
      const last = [...this.entries.keys()].at(-1);
      if (last === undefined) return text;
      this.entries.delete(last);
    }
  }

  private compose(): string {
    const lines: string[] = [];
    for (const section of sectionNames) {
      const chosen = [...this.entries.values()].filter((entry) => entry.section === section);
      const missing = this.describeMissing(section);
      const isEmptyDone = section === "Done" && this.log.files.length === 0;
      if (chosen.length === 0 && missing === "" && !isEmptyDone) continue;
      lines.push(section);
      if (section === "Done" && this.root !== undefined) lines.push(this.rootLine());
      if (missing !== "") lines.push(missing);
      lines.push(...chosen.sort((a, b) => a.order - b.order).map(({ text }) => text));
      if (isEmptyDone) lines.push(noFiles);
    }
    lines.push(this.sourceLine(), this.expandLine());
    return lines.join("\n").toWellFormed();
  }

  private pickOpen(): void {
    const { log } = this;
    const open = log.todos.filter((todo) => todo.state !== "done");
    const done = log.todos.filter((todo) => todo.state === "done");
    for (const todo of [...open, ...done.toReversed()]) this.addTodo(log.todos.indexOf(todo), todo);
    for (const check of findFailing(log.checks).slice(-3).toReversed()) {
      const text = `- failing: ${check.text}: ${check.detail ?? "failed"}${cite(check)}`;
      this.add("Open", `failing ${check.text}`, 1_000, text, "failing");
    }
    for (const [index, line] of log.pending.entries()) {
      this.add(
        "Open",
        `pending ${index}`,
        2_000 + index,
        bullet({ ...line, text: shortenWords(line.text, 60) }),
        "pending",
      );
    }
    for (const index of findOpenErrors(log.errors, log.checks).slice(-openErrorsMax).toReversed()) {
      const error = log.errors[index];
      if (error !== undefined) this.add("Open", `error ${index}`, 1_500 + index, formatError(error), "errors");
    }
    // How the last test, build and lint ended is never left out.
    for (const index of findLastChecks(log.checks)) {
      const check = log.checks[index];
      if (check !== undefined) this.addCheck(index, check);
    }
  }

  private pickWithin<T>(share: number, items: readonly T[], add: (item: T) => number): void {
    let budget = Math.floor(this.options.targetTokens * share);
    for (const item of items) {
      if (budget <= 0) return;
      budget -= add(item);
    }
  }

  private chooseShortWords(): number {
    const budget = this.options.targetTokens * shares.requests;
    const counts = this.log.requests.map(({ text }) => text.split(" ", shortWords[0]).length);
    const cost = (most: number) =>
      counts.reduce((sum, count) => sum + requestTokens + tokensPerWord * Math.min(most, count), 0);
    const least = this.options.requestWordsMin ?? shortWords[shortWords.length - 1] ?? 0;
    return Math.max(least, shortWords.find((most) => cost(most) <= budget) ?? least);
  }

  /** The shortest form is the text alone; only what is not done says so there. */
  private addRequest(index: number, request: RequestLine, words: number, form: "text" | "state" | "outcome"): number {
    if (this.left <= 0) return 0;
    const text = shortenWords(request.text, words).replaceAll(" → ", " -> ");
    const state = stateWord(request);
    const outcome = form === "outcome" ? (request.outcome ?? state) : form === "text" && state === "done" ? "" : state;
    const stamp = request.stamp === undefined ? "" : `${request.stamp} `;
    const end = outcome === "" ? "" : ` → ${outcome.replaceAll(" → ", " -> ")}`;
    return this.add("Requests", `request ${index}`, index, `- ${stamp}${text}${end}${cite(request)}`, "requests");
  }

  private addFile(index: number, file: FileLine, form: "path" | "counts"): number {
    const target = file.target === undefined ? "" : ` → ${this.shortPath(file.target)}`;
    const times = file.edits > 1 ? ` ×${file.edits}` : "";
    const { added = 0, removed = 0 } = file.lines ?? {};
    const lines = form === "counts" && added + removed > 0 ? ` (+${added} −${removed})` : "";
    const text = `- ${file.operation} ${this.shortPath(file.path)}${target}${times}${lines}${cite(file)}`;
    return this.add("Done", `file ${index}`, index, text, "files");
  }

  private addCheck(index: number, check: CheckLine): number {
    const detail = check.detail === undefined ? "" : ` (${check.detail})`;
    const times = check.runs > 1 ? ` ×${check.runs}` : "";
    const text = `- ran ${check.text}: ${check.outcome}${detail}${times}${cite(check)}`;
    return this.add("Done", `check ${index}`, 10_000 + index, text, "checks");
  }

  private addEvent(index: number, event: LogLine): number {
    return this.add("Done", `event ${index}`, 20_000 + index, bullet(event), "events");
  }

  private addError(index: number, error: ErrorLine): number {
    if (this.entries.get(`error ${index}`)?.section === "Open") return 0;
    return this.add("Found", `error ${index}`, index, formatError(error), "errors");
  }

  private addTodo(index: number, todo: TodoLine): void {
    const mark = todo.state === "done" ? "x" : todo.state === "active" ? "~" : " ";
    this.add("Open", `todo ${index}`, index, `- [${mark}] ${shortenWords(todo.text, 30)}${cite(todo)}`, "todos");
  }

  private addReference(index: number, line: LogLine): number {
    return this.add("Refer", `reference ${index}`, index, bullet(line), "references");
  }

  /** Adds a line, or replaces its shorter form; returns the tokens it took. A line that does not fit is left out. */
  private add(section: SectionName, key: string, order: number, text: string, kind: string): number {
    const known = this.entries.get(key);
    if (known?.text === text || this.left <= 0) return 0;
    const tokens = estimateTokens(text) + 1;
    const cost = tokens - (known?.tokens ?? 0);
    if (cost > this.left) return 0;
    this.left -= cost;
    this.entries.set(key, { section, order, text, tokens, kind });
    return cost;
  }

  /** With a root, other relative paths start with `./`, so that they are not taken for paths in it. */
  private shortPath(path: string): string {
    if (this.root === undefined) return path;
    if (path.startsWith(`${this.root}/`)) return path.slice(this.root.length + 1);
    return /^[/~$.]/.test(path) ? path : `./${path}`;
  }

  private rootLine(): string {
    return this.root === undefined ? "" : `${rootPrefix}${this.root}`;
  }

  private sourceLine(): string {
    return `${sourcePrefix}${this.options.sourceTokens} tokens.`;
  }

  private describeMissing(section: SectionName): string {
    const count = (kind: string) => [...this.entries.values()].filter((entry) => entry.kind === kind).length;
    const missing = (kind: string, all: number, name: string) => {
      const left = all - count(kind);
      return left > 0 ? [`${left} ${name}${left === 1 ? "" : "s"}`] : [];
    };
    const { log } = this;
    const parts =
      section === "Requests"
        ? missing("requests", log.requests.length, "more request")
        : section === "Done"
          ? [...missing("files", log.files.length, "more file"), ...missing("checks", log.checks.length, "more check")]
          : section === "Open"
            ? missing("todos", log.todos.length, "more todo")
            : [];
    return parts.length === 0 ? "" : `- and ${parts.join(", ")}`;
  }

  private expandBudget(): number {
    return Math.min(60, Math.floor(this.options.targetTokens * 0.06));
  }

  /** The topics whose details were left out: files and checks of the log, and the topics of merged summaries. */
  private expandLine(): string {
    const budget = this.expandBudget();
    const names = this.log.files.toReversed().flatMap(({ path }) => path.split("/").at(-1) ?? []);
    const topics: string[] = [];
    let tokens = estimateTokens(expandPrefix);
    for (const topic of new Set([...names.slice(0, 6), ...this.log.topics.toReversed()])) {
      tokens += estimateTokens(`, ${topic}`);
      if (tokens > budget) break;
      topics.push(topic);
    }
    return expandPrefix + (topics.length === 0 ? "the exact wording" : topics.join(", "));
  }
}

/** Files in temporary folders matter least. */
function isScratch({ path }: FileLine): boolean {
  return /^(?:\/private)?\/(?:tmp|var\/folders)\//.test(path);
}

/** The newest quarter first, then every second of the rest, then the others: no stretch of time is left out alone. */
function spreadOut<T>(newestFirst: readonly T[]): T[] {
  const recent = Math.ceil(newestFirst.length / 4);
  const rest = newestFirst.slice(recent);
  return [
    ...newestFirst.slice(0, recent),
    ...rest.filter((_, index) => index % 2 === 0),
    ...rest.filter((_, index) => index % 2 === 1),
  ];
}

function formatError(error: ErrorLine): string {
  const command = error.command === undefined ? "" : ` (in ${error.command})`;
  const fix = error.fix === undefined ? "" : `; fixed by ${error.fix}`;
  return `- error: ${error.text}${command}${fix}${cite(error)}`;
}

function bullet(line: LogLine): string {
  return `- ${line.text}${cite(line)}`;
}

function cite({ seq }: Pick<LogLine, "seq">): string {
  return seq === undefined ? "" : ` [msg#${seq}]`;
}

function stateWord({ state, outcome }: RequestLine): string {
  if (state === "corrected") return "corrected later";
  if (state === undefined) return outcome === undefined ? "" : "done";
  return state;
}

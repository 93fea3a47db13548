import { expandPrefix, filesPrefix, sourcePrefix, truncatedMarker } from "../../summary-text.ts";
import { rootPrefix, type SectionName, sectionNames } from "./print.ts";
import { readTodoState } from "./tool-kinds.ts";
import { emptyWorkLog, type FileLine, type LogLine, type RequestState, type WorkLog } from "./work-log.ts";

const heading = new RegExp(`^(?:#{1,4} )?\\**(${sectionNames.join("|")}):?\\**:?$`);

/** Whether a summary has the sections of a work log. */
export function isWorkLogText(content: string): boolean {
  return content.split("\n").filter((line) => heading.test(line.trim())).length >= 2;
}

/**
 * Parses a summary with the sections of a work log, whether it was printed here or written by a model. Lines in other
 * words than those of the printer stay as they are, in their section.
 */
export function parseWorkLog(content: string): WorkLog {
  const log = emptyWorkLog();
  let section: SectionName | undefined;
  let root: string | undefined;
  for (const raw of content.split("\n")) {
    const line = raw.trim();
    const found = heading.exec(line)?.[1] as SectionName | undefined;
    if (found !== undefined) section = found;
    else if (line.startsWith(rootPrefix)) root = line.slice(rootPrefix.length);
    else if (line.startsWith(expandPrefix)) {
      const topics = line.slice(expandPrefix.length).split(/, ?/);
      log.topics.push(...topics.filter((topic) => topic !== "the exact wording"));
    } else if (isFixed(line)) continue;
    else if (section === undefined) log.facts.push(readCitation(line));
    else readers[section](readCitation(line.replace(/^[-*•] /, "")), log, root);
  }
  return log;
}

function isFixed(line: string): boolean {
  return (
    line === "" ||
    line.startsWith(sourcePrefix) ||
    line.startsWith(truncatedMarker) ||
    line.startsWith(filesPrefix) ||
    /^- and \d+ /.test(line)
  );
}

const citation = / ?[[(]msg#(\d+)[^\])]{0,40}[\])]$/;

function readCitation(line: string): LogLine {
  const found = citation.exec(line);
  return found === null ? { text: line } : { text: line.slice(0, found.index), seq: Number(found[1]) };
}

const stampAndText = /^(\d{4}-\d\d-\d\d(?: \d\d:\d\d(?:Z|[+-]\d\d:\d\d)?)?) (.+)$/;
const states: ReadonlyMap<string, RequestState> = new Map([
  ["done", "done"],
  ["continues", "continues"],
  ["interrupted", "interrupted"],
  ["corrected later", "corrected"],
]);
const fileLine = /^(created|edited|deleted|moved) (\S.*?)(?: → (\S.*?))?(?: ×(\d+))?(?: \(\+(\d+) [−-](\d+)\))?$/;
const checkLine = /^ran (.+): (passed|failed|unknown)(?: \((.+)\))?(?: ×(\d+))?$/;
const errorLine = /^error: (.+?)(?: \(in (.+?)\))?(?:; fixed by (.+))?$/;
const todoLine = /^\[([ xX~-])\] (.+)$/;
const failingLine = /^failing: (.+?): (.+)$/;

const readers: Readonly<Record<SectionName, (line: LogLine, log: WorkLog, root?: string) => void>> = {
  Requests(line, log) {
    const stamped = stampAndText.exec(line.text);
    const said = stamped?.[2] ?? line.text;
    const at = said.lastIndexOf(" → ");
    const end = at === -1 ? undefined : said.slice(at + 3);
    const state = end === undefined ? undefined : (states.get(end) ?? "done");
    log.requests.push({
      ...line,
      text: at === -1 ? said : said.slice(0, at),
      ...(stamped?.[1] === undefined ? {} : { stamp: stamped[1] }),
      ...(state === undefined ? {} : { state }),
      ...(end === undefined || states.has(end) ? {} : { outcome: end }),
    });
  },
  Done(line, log, root) {
    const file = fileLine.exec(line.text);
    const check = checkLine.exec(line.text);
    if (file !== null) log.files.push(toFileLine(file, line.seq, root));
    else if (check !== null) {
      log.checks.push({
        ...line,
        text: check[1] ?? "",
        outcome: (check[2] ?? "unknown") as "passed",
        ...(check[3] === undefined ? {} : { detail: check[3] }),
        runs: Number(check[4] ?? 1),
      });
    } else log.events.push(line);
  },
  Found(line, log) {
    const error = errorLine.exec(line.text);
    if (error === null) log.facts.push(line);
    else {
      log.errors.push({
        ...line,
        text: error[1] ?? "",
        ...(error[2] === undefined ? {} : { command: error[2] }),
        ...(error[3] === undefined ? {} : { fix: error[3] }),
      });
    }
  },
  Open(line, log) {
    const todo = todoLine.exec(line.text);
    const failing = failingLine.exec(line.text);
    if (line.text.startsWith("error: ")) return readers.Found(line, log);
    if (todo !== null) log.todos.push({ ...line, text: todo[2] ?? "", state: readTodoState(todo[1] ?? "") });
    else if (failing === null) log.pending.push(line);
    else if (!log.checks.some((check) => check.text === failing[1])) {
      const detail = failing[2] === "failed" ? {} : { detail: failing[2] };
      log.checks.push({ ...line, text: failing[1] ?? "", outcome: "failed", ...detail, runs: 1 });
    }
  },
  Refer(line, log) {
    log.references.push(line);
  },
};

function toFileLine(found: RegExpExecArray, seq: number | undefined, root: string | undefined): FileLine {
  // The printer marks paths that are not in the root with `./`.
  const resolve = (path: string) => {
    if (root === undefined) return path;
    if (path.startsWith("./")) return path.slice(2);
    return /^[/~$.]/.test(path) ? path : `${root}/${path}`;
  };
  const operation = (found[1] ?? "edited") as FileLine["operation"];
  const isChange = operation === "edited" || operation === "created";
  return {
    path: resolve(found[2] ?? ""),
    operation,
    ...(found[3] === undefined ? {} : { target: resolve(found[3]) }),
    edits: Number(found[4] ?? (isChange ? 1 : 0)),
    ...(found[5] === undefined ? {} : { lines: { added: Number(found[5]), removed: Number(found[6]) } }),
    ...(seq === undefined ? {} : { seq }),
  };
}

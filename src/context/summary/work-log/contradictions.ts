import { parseWorkLog } from "./parse.ts";
import type { CheckLine, FileLine, WorkLog } from "./work-log.ts";

const listedMax = 6;
/** A summary of a few files must name them all; of many, the most edited. */
const filesRequired = 12;

/**
 * Compares a summary by a model with the log that was read from the transcript: files, outcomes and numbers that are wrong
 * or invented. The sentences can be given back to the model.
 */
export function findContradictions(content: string, log: WorkLog, sources: string): string[] {
  const written = parseWorkLog(content);
  return [
    ...describe("These files were changed and are missing", findMissingFiles(content, log.files)),
    ...describe("These files were not changed like that", findWrongFiles(written.files, log.files, sources)),
    ...describe("These commands ended otherwise", findWrongChecks(written.checks, log.checks)),
    ...describe("These numbers are not in the data", findInventedNumbers(content, sources)),
  ];
}

function describe(fault: string, items: readonly string[]): string[] {
  if (items.length === 0) return [];
  const more = items.length > listedMax ? `, and ${items.length - listedMax} more` : "";
  return [`${fault}: ${items.slice(0, listedMax).join(", ")}${more}`];
}

function baseName(path: string): string {
  return path.split(/[/\\]/).at(-1) ?? path;
}

function findMissingFiles(content: string, files: readonly FileLine[]): string[] {
  const lasting = files.filter(({ path }) => !/^\/(?:private\/)?(?:tmp|var\/folders)\//.test(path));
  const required = lasting.toSorted((a, b) => b.edits - a.edits).slice(0, filesRequired);
  const missing = required.filter(({ path }) => !content.includes(baseName(path)));
  // One file in eight may be left out: a model may judge that it does not matter.
  return missing.length > required.length / 8 ? missing.map(({ path }) => path) : [];
}

/** A file that is said to be deleted and is not, or the other way round, and a file that the data does not name at all. */
function findWrongFiles(written: readonly FileLine[], files: readonly FileLine[], sources: string): string[] {
  return written.flatMap(({ path, operation }) => {
    const known = files.find(
      (file) => file.path === path || file.path.endsWith(`/${path}`) || path.endsWith(`/${file.path}`),
    );
    if (known === undefined) return sources.includes(baseName(path)) ? [] : [`${operation} ${path}`];
    const isGone = (one: string) => one === "deleted" || one === "moved";
    return isGone(known.operation) === isGone(operation) ? [] : [`${operation} ${path} (it was ${known.operation})`];
  });
}

function findWrongChecks(written: readonly CheckLine[], checks: readonly CheckLine[]): string[] {
  return written.flatMap(({ text, outcome }) => {
    const known = checks.findLast((check) => check.text === text || check.text.startsWith(`${text} (`));
    if (known === undefined || known.outcome === "unknown" || outcome === "unknown" || known.outcome === outcome)
      return [];
    return [`${text}: ${outcome} (it ${known.outcome})`];
  });
}

/** Numbers of three digits and more, without citations, times and counts of lines. */
function findInventedNumbers(content: string, sources: string): string[] {
  const plain = content
    .replace(/\[msg#[^\]]*\]|\d{4}-\d\d-\d\d|\d\d:\d\d|\(\+\d+ [−-]\d+\)|×\d+/g, " ")
    .replace(/^(?:Stands for|Expand for) .*$/gm, " ");
  const known = sources.replaceAll(/(\d)[,_ ](?=\d{3})/g, "$1");
  const numbers = new Set(plain.match(/(?<![\w.])\d{3,}(?:\.\d+)?(?![\w])/g) ?? []);
  return [...numbers].filter((number) => !known.includes(number));
}

import { findDecisions } from "./decisions.ts";
import { isFilePath } from "./paths.ts";
import type { Step } from "./steps.ts";
import { dropPastedLines } from "./typed-text.ts";

export interface LiteralItem {
  literal: string;
}

export interface Literals {
  numbers: LiteralItem[];
  paths: LiteralItem[];
  identifiers: LiteralItem[];
}

/** Numbers, paths and identifiers that the person typed; numbers also of proposals that the person confirmed. */
export function findLiterals(steps: readonly Step[]): Literals {
  const found = { numbers: new Set<string>(), paths: new Set<string>(), identifiers: new Set<string>() };
  const confirmed = findDecisions(steps).filter((decision) => decision.by === "assistant");
  const typed = steps.flatMap((step) => (step.kind === "user" ? [dropPastedLines(step.text)] : []));
  for (const text of typed) {
    const { rest: withoutNames, identifiers } = takeIdentifiers(text);
    const { rest, paths } = takePaths(withoutNames);
    const named = takeCodeNames(rest);
    for (const one of paths) found.paths.add(one);
    for (const one of [...identifiers, ...named.identifiers]) found.identifiers.add(one);
    for (const one of listNumbers(named.rest)) found.numbers.add(one);
  }
  for (const { text } of confirmed)
    for (const one of listNumbers(takeCodeNames(takePaths(text).rest).rest)) found.numbers.add(one);
  const toItems = (set: ReadonlySet<string>) => [...set].map((literal) => ({ literal }));
  return { numbers: toItems(found.numbers), paths: toItems(found.paths), identifiers: toItems(found.identifiers) };
}

/** Finds all matches and replaces them by a space, so that no later pattern reads them again. */
function take(
  text: string,
  pattern: RegExp,
  accept: (match: string) => boolean = () => true,
): { rest: string; taken: string[] } {
  const taken: string[] = [];
  const rest = text.replace(pattern, (match: string, ...groups: unknown[]) => {
    const own = typeof groups[0] === "string" ? groups[0] : match;
    const literal = own.replace(/(?:[.,;:!?\]}'"’”。，、]|(?<!\()\))+$/u, "");
    if (literal === "" || !accept(literal)) return match;
    taken.push(literal);
    return " ";
  });
  return { rest, taken };
}

/** Names with a form of their own, which paths and numbers must not claim: URLs, branches, packages, tickets. */
function takeIdentifiers(text: string): { rest: string; identifiers: string[] } {
  const identifiers: string[] = [];
  let rest = text;
  const collect = (pattern: RegExp, accept?: (match: string) => boolean) => {
    const step = take(rest, pattern, accept);
    rest = step.rest;
    identifiers.push(...step.taken);
  };
  collect(/\b(?:https?|wss?|postgres(?:ql)?|redis|s3|ssh|git):\/\/[^\s<>"'`。，、）]+/g);
  collect(
    /(?<![\w/.-])(?:feature|feat|fix|bugfix|hotfix|release|chore|refactor|spike|renovate|dependabot)\/[\w.#/-]+/g,
    (one) => !isFilePath(one),
  );
  collect(/\b(?:branch|Branch)\s+[`'"]?([A-Za-z][\w.-]*[/_-][\w./-]+)[`'"]?/g);
  collect(/(?<![\w/.-])[`'"]?([A-Za-z][\w.]*-[\w.-]+)[`'"]?\s+(?:branch|Branch)\b/g);
  collect(/(?<![\w/])@[a-z][\w.-]*\/[a-z][\w.-]*(?![\w/.-]*\.(?:ts|js|md|py)\b)/g);
  collect(
    /(?<![\w/-])[A-Z][A-Z0-9]{1,9}-\d+\b/g,
    (one) => !/^(?:UTF|ISO|SHA|RFC|HTTP|TLS|ES|GPT|MD|AES|RSA|COVID)-/.test(one),
  );
  collect(
    /(?<![\w/#&])#\d{1,5}(?![\w-])/g,
    (one) => !/^#\d{3}$/.test(one) || !/colou?r|background|\bbg\b|border/i.test(text),
  );
  return { rest, identifiers };
}

const folders =
  /^(?:src|tests?|docs?|lib|libs|packages|apps?|dist|scripts|config|public|assets|components|pages|api|server|client|core|utils|internal|cmd|pkg|infra|deploy|charts|migrations|models|notebooks|data|bin|examples|themes)$/;

function takePaths(text: string): { rest: string; paths: string[] } {
  const quoted = take(
    text,
    /['"`]((?:~|\.{1,2}|[A-Z]:)?[/\\][^'"`\n]+|[^'"`\n/\\]+(?:[/\\][^'"`\n/\\]+)+)['"`]/g,
    (one) => isTypedPath(one) || (/^[/~]/.test(one) && isFilePath(one)),
  );
  const drive = take(quoted.rest, /(?<![\w])[A-Z]:\\[\w.\\ -]*\w/g);
  const plain = take(
    drive.rest,
    /(?<![\p{L}\p{N}_/.~@\\$:-])@?((?:~|\.{1,2})?\/?[\w.@+-]+(?:\/[\w.@+\-[\]]+)*\/?)/gu,
    isTypedPath,
  );
  return { rest: plain.rest, paths: [...quoted.taken, ...drive.taken, ...plain.taken] };
}

function isTypedPath(word: string): boolean {
  if (/\s/.test(word)) return false;
  const segments = word.split("/").filter((segment) => segment !== "");
  if (segments.length === 0 || /^[\d.]+$/.test(word)) return false;
  if (!word.includes("/"))
    return (
      isFilePath(word) &&
      !/^(?:node|vue|next|react|express|chart|three|d3|nuxt|socket|ember|backbone|alpine|nest|discord|moment|day)\.js$/i.test(
        word,
      ) &&
      /^[.\w-]+$/.test(word) &&
      !/^\.\w{1,5}$/.test(word)
    );
  if (/^(?:~|\.{1,2})\//.test(word)) return true;
  // A single word after a slash is a command or a route, two are a path.
  if (word.startsWith("/")) return segments.length >= 2 || isFilePath(word);
  if (isFilePath(word)) return true;
  if (/^\d+(?:\.\d+)?\/\d+/.test(word) || segments.some((segment) => /^[A-Z]\w*\.\w+$/.test(segment))) return false;
  return (
    word.endsWith("/") ||
    segments.some((segment) => folders.test(segment) || /[_-]/.test(segment) || segment.startsWith("."))
  );
}

const brands =
  /^(?:GitHub|GitLab|TypeScript|JavaScript|PostgreSQL|MySQL|SQLite|GraphQL|OpenAI|YouTube|LinkedIn|iOS|macOS|iPhone|iPad|MongoDB|DynamoDB|CloudFront|CloudFlare|WebSocket|WebSockets|OAuth|DevOps|NoSQL|JetBrains|VSCode|WordPress|PyTorch|TensorFlow|NumPy|FastAPI|DuckDB|ClickHouse|BigQuery|PowerShell|McDonald|eBay|PayPal|LaTeX|LocalStack|LangChain|PlayStation|README|ESLint|NestJS|NextJS|CircleCI|RabbitMQ|OpenAPI|TimescaleDB|IntelliJ|PagerDuty|OpenSSL|GmbH|TailwindCSS|StackOverflow|AppStore|OpenClaw|URLs|APIs|PRs|IDs|CSVs|PDFs|VMs|CommonJS|[kKMGT]i?B)$/;

/** Names of code: environment variables, functions, camelCase, snake_case, hashes, and anything in backticks. */
function takeCodeNames(text: string): { rest: string; identifiers: string[] } {
  const quoted = take(text, /`([^`\s]+)`/g, (one) => /[A-Za-z]/.test(one) && !isNumberWithUnit(one));
  const environment = take(quoted.rest, /\$?\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b|\$[A-Z][A-Z0-9]+\b/g);
  const called = take(environment.rest, /\b[A-Za-z_][\w.]*\(\)/g);
  const hashes = take(
    called.rest,
    /(?<![\w#.-])[0-9a-f]{7,40}(?![\w-])/g,
    (one) => /\d/.test(one) && /[a-f]/.test(one),
  );
  const dotted = take(
    hashes.rest,
    /(?<![\w/.@-])[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+(?!\.?\w|\/)/g,
    (one) =>
      !/^(?:e\.g|i\.e|z\.B|u\.a|d\.h|a\.m|p\.m|etc\..*|w\.t\.f)$/i.test(one) &&
      !/\.(?:com|org|net|io|dev|js|de|ai)$/i.test(one),
  );
  const cased = take(
    dotted.rest,
    /(?<![\w#.])(?:[a-z]+[a-z0-9]*(?:[A-Z][a-z0-9]*)+|[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]*)+|[a-z][a-z0-9]*(?:_[a-z0-9]+)+|_[a-z]\w+)(?!\w)/g,
    (one) => !brands.test(one) && !/^\d*[a-z]{0,2}\d+[A-Z]?$/.test(one),
  );
  return {
    rest: cased.rest,
    identifiers: [quoted, environment, called, hashes, dotted, cased].flatMap((step) => step.taken),
  };
}

/** Units of measure belong to a number. */
const units =
  "(?:ms|s|secs?|seconds?|mins?|minutes?|hours?|hrs?|h|days?|weeks?|months?|years?|[kKMGT]i?B|[KMG]i|kb|mb|gb|bytes?|px|rem|em|pt|vh|vw|%|percent|rps|qps|k|K|M|x|°C|€|EUR|USD|Sekunden|Minuten|Stunden|Tagen?|Wochen|Monaten?|Prozent|毫秒|秒|分钟|分|小时|天|周|ミリ秒|時間|日|週間|万)";
/** Counted things belong to a single digit only, which says nothing without them. */
const counted =
  "(?:[a-z]{3,}s|tokens?|rows?|items?|users?|requests?|retries|attempts?|times|characters?|columns?|lines?|workers?|replicas?|threads?|connections?|cores?|failures|results|words|errors|pages|files|spaces|instances|nodes|Zeilen|Zeichen|Versuche|Mal|个|次|行|件|回|文字)";
const numberPatterns = [
  /(?<![\w&])#(?:[0-9a-fA-F]{8}|[0-9a-fA-F]{6}|[0-9a-fA-F]{3,4})(?!\w)/g,
  /(?<![\w#.-])(?=[0-9a-fA-F]*\d)[0-9a-fA-F]{6}(?!\w)/g,
  /(?<![\w.])v?\d+\.\d+(?:\.\d+)*(?:-?(?:alpha|beta|rc|dev|preview|canary|next|post|a|b)[.\d]*)?(?![\w.]*\w)/g,
  /(?<![\w.])\d+(?:\.\d+)?e[+-]?\d+(?!\w)/gi,
];
const plainNumber = /(?<![\w.,#/-])[$€£]?(\d[\d.,_]*)/g;

function isNumberWithUnit(text: string): boolean {
  return new RegExp(`^\\d[\\d.,_]*${units}?$`).test(text);
}

function listNumbers(text: string): string[] {
  const numbers: string[] = [];
  // Positions in lists are not facts.
  let rest = text.replace(/^\s*\(?\d{1,2}[.)]\s+/gm, " ").replace(/\b\d{4}-\d\d-\d\d\b|\b\d{1,2}:\d\d\b/g, (date) => {
    numbers.push(date);
    return " ";
  });
  const withUnit = new RegExp(`(?<![\\w.,#/-])(?:\\d[\\d.,_]*[ -]?${units}|\\d ${counted})(?![A-Za-z])`, "g");
  for (const pattern of [...numberPatterns.slice(0, 2), withUnit, ...numberPatterns.slice(2), plainNumber]) {
    const step = take(rest, pattern, (one) => pattern !== plainNumber || isFactual(one, rest));
    rest = step.rest;
    numbers.push(...step.taken);
  }
  return numbers.map((one) => one.replace(/[.,_]+$/, ""));
}

/** A single digit counts only as a value: after a word or sign that assigns or compares. */
function isFactual(literal: string, text: string): boolean {
  if (/\d{2,}/.test(literal)) return true;
  const escaped = literal.replace(/[.$]/g, "\\$&");
  return new RegExp(
    `(?:[=<>≥≤:]|\\b(?:to|be|is|version|v|port|level|limit|max|min|least|most|auf|höchstens|mindestens|Node|Python|phase|step|than|of|by|depth|exactly|want|show|allow|keep|use|last|top|first)) ?${escaped}(?![\\w.])`,
    "i",
  ).test(text);
}

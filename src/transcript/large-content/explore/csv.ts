import { createRequire } from "node:module";
import { type ExploredText, formatCount, formatSummary, type Section } from "./summary-format.ts";

const require = createRequire(import.meta.url);
/** Loaded on demand: most processes never see a table. */
const loadCsvParser = () => require("csv-parse/sync") as typeof import("csv-parse/sync");

const delimiters = [",", "\t", ";", "|"] as const;
const delimiterNames: Readonly<Record<string, string>> = { ",": "comma", "\t": "tab", ";": "semicolon", "|": "bar" };
/** The share of rows with the same number of columns that makes a table. */
const sameShare = 0.9;
const cellLengthMax = 80;

/** The delimiter that gives the most regular table; `undefined` when the text is not a table. */
export function findDelimiter(start: string, rowsMin: number): string | undefined {
  const scored = delimiters.map((delimiter) => ({
    delimiter,
    columns: countRegularColumns(start, delimiter, rowsMin),
  }));
  const best = scored.reduce((one, other) => (other.columns > one.columns ? other : one));
  return best.columns >= 2 ? best.delimiter : undefined;
}

/** The number of columns with a delimiter, or 0 when the rows are irregular. */
function countRegularColumns(text: string, delimiter: string, rowsMin: number): number {
  // The sample may end inside a row.
  const { rows } = readRows(text, { delimiter, isCut: true, rowsMax: 100 });
  const [first] = rows;
  if (first === undefined || rows.length < rowsMin || first.length < 2) return 0;
  // Rows of Markdown tables start and end with a bar.
  if (delimiter === "|" && rows.every((row) => row[0]?.trim() === "")) return 0;
  const isAlike = rows.filter((row) => row.length === first.length).length >= sameShare * rows.length;
  if (!isAlike) return 0;
  // Prose may have one comma in each of a few lines; the cells of a table are short, and it has more rows.
  const cells = rows.flat();
  const meanLength = cells.reduce((sum, cell) => sum + cell.length, 0) / cells.length;
  const isProse =
    rowsMin > 1 && (meanLength > cellLengthMax || (first.length === 2 && delimiter === "," && rows.length < 5));
  return isProse ? 0 : first.length;
}

export function exploreCsv({ text, isCut, extent }: ExploredText, delimiter: string): string {
  const { rows, isUnquoted } = readRows(text, { delimiter, isCut });
  const [first = []] = rows;
  const hasHeader = isHeader(first, rows);
  const body = hasHeader ? rows.slice(1) : rows;
  const columns = rows.reduce((most, row) => Math.max(most, row.length), 0);
  const odd = rows.filter((row) => row.length !== first.length).length;
  const kind = `${delimiter === "\t" ? "TSV" : "CSV"} (${delimiterNames[delimiter] ?? delimiter})`;
  const head = `${kind}, ${formatCount(body.length, "row")}, ${formatCount(columns, "column")}${hasHeader ? "" : ", no header"}, ${extent}`;
  const notes: string[] = [];
  if (odd > 0) notes.push(`${formatCount(odd, "row")} of another length than the first`);
  if (isUnquoted) notes.push("a quote is never closed, so quotes were read as text");
  const sample = body[Math.floor(body.length / 2)] ?? [];
  const sections: Section[] = [
    {
      label: "Columns",
      items: describeColumns(hasHeader ? first : undefined, body, columns),
      total: columns,
      weight: 3,
    },
    { label: "Faults", items: notes, separator: "; ", weight: 0.7 },
    { label: "Sample row", items: sample.map((cell) => cell || "(empty)"), separator: " | ", weight: 1.2 },
  ];
  return formatSummary(head, sections);
}

interface TableRows {
  rows: string[][];
  isUnquoted: boolean;
}

interface ReadOptions {
  delimiter: string;
  isCut: boolean;
  rowsMax?: number;
}

/** Complete rows before an unclosed quote that are enough to trust the quotes. */
const wholeRowsMin = 3;

function readRows(text: string, { delimiter, isCut, rowsMax }: ReadOptions): TableRows {
  const rows: string[][] = [];
  const options = {
    delimiter,
    bom: true,
    relax_column_count: true,
    relax_quotes: true,
    skip_empty_lines: true,
    on_record: (row: string[]) => {
      rows.push(row);
      return null;
    },
    ...(rowsMax === undefined ? {} : { to: rowsMax }),
  };
  try {
    loadCsvParser().parse(text, options);
  } catch {
    // A text truncated inside quotes lost only its last row.
    if (isCut && rows.length >= wholeRowsMin) return { rows, isUnquoted: false };
    // An unclosed quote swallows the rest of the text, so quotes are parsed as plain text; the summary says so.
    rows.length = 0;
    loadCsvParser().parse(text, { ...options, quote: false });
    return { rows, isUnquoted: true };
  }
  const isWhole = rows.length === rowsMax || /[\r\n]$/.test(text);
  if (isCut && !isWhole && rows.length > wholeRowsMin) rows.pop();
  return { rows, isUnquoted: false };
}

/** The first row is a header when its cells are distinct, not empty and not numbers. */
function isHeader(first: readonly string[], rows: readonly string[][]): boolean {
  if (rows.length < 2 || new Set(first).size !== first.length) return false;
  return first.every(
    (cell) => cell.trim() !== "" && cell.length <= cellLengthMax && !/^[-+]?[\d.,:/]+$/.test(cell.trim()),
  );
}

const rowsMax = 2_000;

const columnTypes: readonly (readonly [name: string, pattern: RegExp])[] = [
  ["integer", /^[-+]?\d{1,18}$/],
  ["number", /^[-+]?(?:\d{1,18}(?:[.,]\d{1,18})?|[.,]\d{1,18})(?:e[-+]?\d{1,3})?$/i],
  ["boolean", /^(?:true|false|yes|no)$/i],
  ["date", /^(?:\d{4}-\d\d?-\d\d?|\d\d?[./]\d\d?[./]\d{2,4})(?:[T ]\d\d?:\d\d.*)?$/],
];
/** A column with few distinct values in many rows is an enumeration. */
const choicesMax = 6;

/** Describes each column: `id: integer 1–240`, `state: text (open, closed)`. */
function describeColumns(header: readonly string[] | undefined, rows: readonly string[][], columns: number): string[] {
  const looked = rows.slice(0, rowsMax);
  return Array.from({ length: Math.min(columns, 500) }, (_, index) => {
    const cells = looked.map((row) => row[index]?.trim() ?? "");
    return `${header?.[index] || `column ${index + 1}`}: ${describeCells(cells)}`;
  });
}

function describeCells(cells: readonly string[]): string {
  const filled = cells.filter((cell) => cell !== "");
  if (filled.length === 0) return "empty";
  const type = inferColumnType(filled);
  const emptyShare = Math.round((100 * (cells.length - filled.length)) / cells.length);
  const empty = emptyShare > 0 ? `, ${emptyShare}% empty` : "";
  return `${type}${describeValues(type, filled)}${empty}`;
}

function inferColumnType(cells: readonly string[]): string {
  return columnTypes.find(([, pattern]) => cells.every((cell) => pattern.test(cell)))?.[0] ?? "text";
}

function describeValues(type: string, cells: readonly string[]): string {
  if (type === "integer" || type === "number") {
    const numbers = cells.map((cell) => Number(cell.replace(",", "."))).filter(Number.isFinite);
    if (numbers.length === 0) return "";
    const low = numbers.reduce((one, other) => Math.min(one, other));
    const high = numbers.reduce((one, other) => Math.max(one, other));
    return low === high ? ` ${low}` : ` ${low}–${high}`;
  }
  if (type === "date") {
    const sorted = cells.toSorted();
    return ` ${sorted[0]} to ${sorted.at(-1)}`;
  }
  const choices = new Set(cells);
  const isKind = type === "text" && choices.size <= choicesMax && choices.size * 3 <= cells.length;
  return isKind ? ` (${[...choices].map((choice) => choice.slice(0, 24)).join(", ")})` : "";
}
